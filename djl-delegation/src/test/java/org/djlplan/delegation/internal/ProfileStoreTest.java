package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileStoreTest {

    private static final Goal FAST = new Goal(Objective.LATENCY, OptionalLong.empty());

    @TempDir Path folder;
    private final LogCapture log = new LogCapture();
    private FakeModel model;

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    @AfterEach
    void stopCapture() {
        log.close();
    }

    private FolderStore<ProfileTable> store() {
        return ProfileStore.of(model);
    }

    private StoreKey key() throws IOException {
        return key(FAST, List.of(2), Tolerance.AUTO);
    }

    private StoreKey key(Goal goal, List<Integer> threads, Tolerance tolerance) throws IOException {
        return ProfileStore.key(
                model, new Request(model.graph(), goal, threads, Optional.empty(), tolerance));
    }

    private Path file() throws IOException {
        try (Stream<Path> files = Files.list(model.file().resolveSibling(".djlplan"))) {
            return files.collect(Collectors.toList()).get(0);
        }
    }

    @Test
    void of_anyDifference_isAnotherKey() throws IOException {
        Set<StoreKey> keys = new HashSet<>();
        keys.add(key());
        keys.add(key(FAST, List.of(1), Tolerance.AUTO));
        keys.add(key(FAST, List.of(1, 2), Tolerance.AUTO));
        keys.add(key(FAST, List.of(2), Tolerance.of(1e-3)));
        Goal small = new Goal(Objective.MEMORY, OptionalLong.empty());
        keys.add(key(small, List.of(2), Tolerance.AUTO));
        Goal limited = new Goal(Objective.LATENCY, OptionalLong.of(1000));
        keys.add(key(limited, List.of(2), Tolerance.AUTO));
        model.facts = Map.of("engine", "TFLite 2.6.3", "delegate", "xnnpack");
        keys.add(key());
        Files.writeString(model.file(), "Weights");
        model.load();
        keys.add(key());
        assertEquals(8, keys.size());
        assertEquals(key(), key());
    }

    @Test
    void key_fileWasReplacedSinceItWasLoaded_throws() throws IOException {
        Path other = Files.writeString(model.file().resolveSibling("other"), "other weights");
        Files.move(other, model.file(), StandardCopyOption.REPLACE_EXISTING);
        assertThrows(IOException.class, this::key);
    }

    @Test
    void of_factOfTheModelWithOurName_isRefused() {
        model.facts = Map.of("threads", "2");
        assertThrows(IllegalArgumentException.class, this::key);
    }

    @Test
    void list_tablesOfThisContentOnly_withTheirKeys() throws IOException {
        store().save(key(), SampleTables.small(2));
        Files.writeString(model.file(), "other weights");
        model.load();
        StoreKey one = key();
        StoreKey two = key(FAST, List.of(1, 2), Tolerance.AUTO);
        store().save(one, SampleTables.small(2));
        store().save(two, SampleTables.small(1));
        Set<Kept<ProfileTable>> expected =
                Set.of(
                        new Kept<>(one, SampleTables.small(2)),
                        new Kept<>(two, SampleTables.small(1)));
        List<Kept<ProfileTable>> listed = ProfileStore.list(model.file(), model.cacheFolder());
        assertEquals(expected, Set.copyOf(listed));
        assertEquals("1,2", two.facts().get("threads"));
    }

    @Test
    void list_missingModel_throws() throws IOException {
        Files.delete(model.file());
        assertThrows(IOException.class, () -> ProfileStore.list(model.file(), model.cacheFolder()));
    }

    @Test
    void load_tableThatTheRequestCouldNotProduce_warnsOnceAndIsReplaced() throws IOException {
        Request request =
                new Request(model.graph(), FAST, List.of(2), Optional.empty(), Tolerance.AUTO);
        store().save(key(), SampleTables.small(1));
        FolderStore<ProfileTable> store = ProfileStore.of(model, request);
        assertEquals(Optional.empty(), store.load(key()));
        assertEquals(Optional.empty(), store.load(key()));
        assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        store.save(key(), SampleTables.small(2));
        assertEquals(Optional.of(SampleTables.small(2)), store.load(key()));
    }

    /** Whoever can write a file can compute its checksum. */
    @Test
    void load_anyPartReplacedUnderARightChecksum_isValidOrRefused() throws IOException {
        Request request =
                new Request(model.graph(), FAST, List.of(2), Optional.empty(), Tolerance.AUTO);
        store().save(key(), SampleTables.small(2));
        String text = Files.readString(file());
        String before = JsonParser.parseString(text).getAsJsonObject().get("profile").toString();
        List<MatchResult> scalars =
                Pattern.compile("-?\\d+|\"[^\"]*\"|true|false|null")
                        .matcher(before)
                        .results()
                        .toList();
        int accepted = 0;
        for (MatchResult scalar : scalars) {
            for (String value :
                    List.of(
                            "-1",
                            "9",
                            "2147483648",
                            "1.5",
                            "null",
                            "\"NaN\"",
                            "[]",
                            "{}",
                            "true")) {
                String after =
                        before.substring(0, scalar.start())
                                + value
                                + before.substring(scalar.end());
                Files.writeString(
                        file(), text.replace(before, after).replace(sha256(before), sha256(after)));
                Optional<ProfileTable> table = ProfileStore.of(model, request).load(key());
                accepted += table.isPresent() ? 1 : 0;
                if (table.isPresent()) {
                    request.check(table.get());
                }
            }
        }
        assertTrue(accepted > 0 && accepted < scalars.size(), accepted + " accepted");
    }

    private static String sha256(String text) {
        return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
    }
}
