package org.djlplan.delegation.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import net.jqwik.api.statistics.Statistics;
import org.djlplan.delegation.internal.FakeModel;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/** Loads damaged tables: the result is the saved table, or nothing and a warning. */
class ProfileFuzzTest {

    private static Path folder;
    private static FakeModel model;
    private static StoreKey key;
    private static Path file;

    @BeforeContainer
    static void makeModel() throws IOException {
        folder = Files.createTempDirectory("profiles");
        model = new FakeModel(folder);
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        key =
                ProfileStore.key(
                        model,
                        new Request(
                                model.graph(), goal, List.of(2), Optional.empty(), Tolerance.AUTO));
        ProfileStore.of(model).save(key, SampleTables.small(2));
        try (Stream<Path> files = Files.list(model.file().resolveSibling(".djlplan"))) {
            file = files.findFirst().orElseThrow();
        }
    }

    @AfterContainer
    static void removeFolder() throws IOException {
        MoreFiles.deleteRecursively(folder);
    }

    @Provide
    Arbitrary<ProfileTable> tables() {
        return SampleTables.any();
    }

    @Provide
    Arbitrary<String> values() {
        return Arbitraries.of(Forgeries.VALUES);
    }

    private static byte[] saved(ProfileTable table) throws IOException {
        ProfileStore.of(model).save(key, table);
        return Files.readAllBytes(file);
    }

    private static Optional<ProfileTable> load(byte[] content) throws IOException {
        Files.write(file, content);
        try (LogCapture log = new LogCapture()) {
            Optional<ProfileTable> table = ProfileStore.of(model).load(key);
            assertEquals(table.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            return table;
        }
    }

    private static void assertEqualOrRefused(ProfileTable expected, byte[] content)
            throws IOException {
        Optional<ProfileTable> table = load(content);
        assertTrue(table.isEmpty() || table.get().equals(expected), table::toString);
    }

    @Property(tries = 100, edgeCases = EdgeCasesMode.NONE)
    void saveLoad_anyTable_isEqual(@ForAll("tables") ProfileTable table) throws IOException {
        assertEquals(Optional.of(table), load(saved(table)));
    }

    @Example
    void load_anyByteChanged_isEqualOrRefused() throws IOException {
        ProfileTable table = SampleTables.small(2);
        byte[] whole = saved(table);
        for (int at = 0; at < whole.length; at++) {
            for (int other : new int[] {whole[at] ^ 1, '0', '"', 0xff}) {
                byte[] damaged = whole.clone();
                damaged[at] = (byte) other;
                assertEqualOrRefused(table, damaged);
            }
        }
    }

    @Example
    void load_truncatedAnywhere_isRefused() throws IOException {
        byte[] whole = saved(SampleTables.small(2));
        for (int length = 0; length < whole.length - 1; length++) {
            assertEquals(Optional.empty(), load(Arrays.copyOf(whole, length)));
        }
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void load_anyBytes_isRefused(@ForAll byte[] content) throws IOException {
        assertEquals(Optional.empty(), load(content));
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void load_partReplacedUnderARightChecksum_isValidOrRefused(
            @ForAll("tables") ProfileTable table, @ForAll int place, @ForAll("values") String value)
            throws IOException {
        Optional<ProfileTable> loaded =
                load(Forgeries.replaced(saved(table), "profile", place, value));
        Statistics.collect(loaded.isPresent());
        Statistics.coverage(coverage -> coverage.check(true).percentage(share -> share > 0));
        assertOfTheRequest();
        for (Entry entry : loaded.map(ProfileTable::entries).orElse(List.of())) {
            assertTrue(
                    entry.candidate()
                            .operators()
                            .headSet(FakeModel.OPERATORS)
                            .equals(entry.candidate().operators()));
        }
    }

    /**
     * Asserts that an accepted table has only threads of the request and operators that the
     * delegate offers.
     */
    private static void assertOfTheRequest() {
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        Request wanted =
                new Request(model.graph(), goal, List.of(1, 2), Optional.empty(), Tolerance.AUTO);
        try (LogCapture log = new LogCapture()) {
            Optional<ProfileTable> table = ProfileStore.of(model, wanted).load(key);
            assertEquals(table.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            if (table.isPresent()) {
                Candidate chosen = table.get().chosen();
                assertTrue(
                        wanted.threads().contains(chosen.threads())
                                || chosen.equals(Candidate.cpu(-1)));
                assertTrue(
                        table.get().partitions().stream()
                                .flatMap(Set::stream)
                                .collect(Collectors.toSet())
                                .containsAll(table.get().chosen().operators()));
            }
        }
    }
}
