package org.djlplan.delegation.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.FakeModel;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void save_table_isFoundByAnotherStore() throws IOException {
        store().save(key(), SampleTables.small(2));
        assertTrue(file().getFileName().toString().matches("net.tflite-[0-9a-f]{16}.profile.json"));
        assertEquals(Optional.of(SampleTables.small(2)), store().load(key()));
        assertEquals(List.of(), log.lines());
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[0,2] | [0,10] | operators 0 to 10 of 10",
                "[0,2] | [0,2,2,3] | operators 2 to 3",
                "[0,2] | [-1,2] | operators -1 to 2",
                "[0,2] | [2,0] | operators 2 to 0",
                "[0,2] | [0] | ",
                "[0,2] | [0,9000000000] | operators 0 to 9000000000",
                "'\"chosen\":{\"operators\":[0,2]' | '\"chosen\":{\"operators\":[0,3]' | measured",
                "'\"threads\":2' | '\"threads\":0' | threads: 0",
                "'\"operators\":[],\"threads\":2,\"transientBuffers\":false'"
                        + " | '\"operators\":[],\"threads\":2,\"transientBuffers\":true'"
                        + " | buffers of no delegate",
                "'\"Infinity\"' | '\"NaN\"' | largest: NaN",
                "'\"Infinity\"' | '\"-1\"' | largest: -1",
                "FLOAT32 | FLOAT31 | FLOAT31",
                "CRASHED | GONE | GONE",
                "'\"kind\":\"wrong\"' | '\"kind\":\"odd\"' | of kind odd",
                "[237000000 | [236000000 | nanoseconds",
                "[237000000, | [ | a latency of 2 numbers",
                "'\"samples\":30' | '\"samples\":0' | samples: 0",
                "'\"inferences\":93' | '\"inferences\":-93' | -93 inferences",
                "'fastest of 2, by 73 %' | '' | without a reason",
            })
    void load_wrongTableWithValidChecksum_warnsOnceAndIgnoresIt(
            String part, String other, String reason) throws IOException {
        store().save(key(), SampleTables.small(2));
        Path file = file();
        JsonObject text = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        String changed = text.get("profile").toString().replace(part, other == null ? "" : other);
        assertNotEquals(text.get("profile").toString(), changed);
        text.add("profile", JsonParser.parseString(changed));
        String checksum = Hashing.sha256().hashString(changed, StandardCharsets.UTF_8).toString();
        text.addProperty("sha256", checksum);
        Files.writeString(file, text.toString());
        FolderStore<ProfileTable> store = store();
        assertEquals(Optional.empty(), store.load(key()));
        assertEquals(Optional.empty(), store.load(key()));
        assertEquals(1, log.lines().size(), () -> log.lines().toString());
        assertEquals(1, log.lines("WARN").size());
        assertTrue(reason == null || log.lines().get(0).contains(reason), log.lines()::toString);
        store.save(key(), SampleTables.small(2));
        assertEquals(Optional.of(SampleTables.small(2)), store.load(key()));
    }

    @Test
    void save_operatorsOutsideTheGraph_isNotStored() throws IOException {
        Candidate outside = new Candidate(ImmutableSortedSet.of(FakeModel.OPERATORS), 2);
        ProfileTable table =
                new ProfileTable(
                        List.of(),
                        List.of(new Entry.Failed(outside, CandidateException.Kind.REFUSED, "no")),
                        Candidate.cpu(2),
                        "nothing else ran",
                        1,
                        1);
        store().save(key(), table);
        assertEquals(Optional.empty(), store().load(key()));
        assertEquals(1, log.lines("WARN").size());
        assertFalse(Files.exists(model.file().resolveSibling(".djlplan")));
    }

    @Test
    void save_tableOfAllSetsOfTenPartitions_isStored() throws IOException {
        List<Entry> entries =
                Stream.iterate(0, set -> set < 1 << 10, set -> set + 1)
                        .<Entry>map(ProfileStoreTest::failed)
                        .toList();
        ProfileTable table =
                new ProfileTable(List.of(), entries, Candidate.cpu(2), "none ran", 0, 0);
        store().save(key(), table);
        assertEquals(Optional.of(table), store().load(key()));
    }

    private static Entry failed(int set) {
        ImmutableSortedSet.Builder<Integer> operators = ImmutableSortedSet.naturalOrder();
        for (int i = 0; i < FakeModel.OPERATORS; i++) {
            if ((set >> i & 1) == 1) {
                operators.add(i);
            }
        }
        return new Entry.Failed(
                new Candidate(operators.build(), 2), CandidateException.Kind.TIMED_OUT, "slow");
    }
}
