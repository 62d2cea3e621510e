package org.djlplan.delegation.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.FakeModel;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a table is rejected if no measurement for the request could have produced it, although
 * it is complete and its checksum is right.
 */
class ForgedTableTest {

    private static final Goal GOAL = new Goal(Objective.LATENCY, OptionalLong.of(30_000_000));

    private static final List<OutputError> CLOSE =
            List.of(new OutputError(ElementType.FLOAT32, 2e-6));

    @TempDir Path folder;
    private FakeModel model;
    private StoreKey key;
    private Request wanted;

    @BeforeEach
    void makeModel() throws IOException {
        model = new FakeModel(folder);
        key =
                ProfileStore.key(
                        model,
                        new Request(
                                model.graph(),
                                GOAL,
                                List.of(1, 2),
                                Optional.empty(),
                                Tolerance.AUTO));
        wanted = new Request(model.graph(), GOAL, List.of(1, 2), Optional.empty(), Tolerance.AUTO);
    }

    private static Entry measured(Candidate candidate, long bytes, List<OutputError> errors) {
        return new Entry.Measured(candidate, 1, new Latency(2, 1, 3, 30), bytes, errors);
    }

    private static ProfileTable table(Candidate chosen, Entry... entries) {
        return new ProfileTable(
                List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6)),
                List.of(entries),
                chosen,
                "forged",
                3,
                4);
    }

    /** Returns the reason for rejecting a table, which is logged once. */
    private String refusal(ProfileTable forged) {
        return refusal(forged, wanted);
    }

    private String refusal(ProfileTable forged, Request by) {
        ProfileStore.of(model).save(key, forged);
        assertEquals(Optional.of(forged), ProfileStore.of(model).load(key), "it is intact");
        try (LogCapture log = new LogCapture()) {
            var store = ProfileStore.of(model, by);
            assertEquals(Optional.empty(), store.load(key));
            assertEquals(Optional.empty(), store.load(key));
            assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
            store.save(key, SampleTables.small(2));
            assertEquals(Optional.of(SampleTables.small(2)), store.load(key));
            return log.lines("WARN").get(0);
        }
    }

    /** A forged reason must not write lines of its own into a log. */
    @Test
    void load_reasonWithLineBreaks_isOneLine() {
        String forged = "fast\n2026-01-01 WARN \u001b[31mforged\r\n";
        String line = "fast 2026-01-01 WARN  [31mforged  ";
        ProfileTable table =
                table(Candidate.cpu(2))
                        .choosing(Candidate.cpu(2), forged)
                        .with(Optional.of(forged));
        ProfileStore.of(model).save(key, table);
        ProfileTable loaded = ProfileStore.of(model, wanted).load(key).orElseThrow();
        assertEquals(line, loaded.reason());
        assertEquals(Optional.of(line), loaded.caveat());
        Entry.Failed failed = new Entry.Failed(Candidate.cpu(2), Kind.REFUSED, "\nfirst\nsecond");
        assertEquals("first", failed.message());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, 5000, 3, -1})
    void load_threadsThatWereNotAskedFor_isRefused(int threads) {
        if (threads != -1) {
            // Without delegation, the CPU kernels run with the engine's own number of threads.
            assertTrue(
                    refusal(table(Candidate.cpu(threads)))
                            .contains("a set with " + threads + " threads"));
        }
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), threads);
        assertTrue(
                refusal(table(Candidate.cpu(2), measured(some, 1, CLOSE)))
                        .contains("a set with " + threads + " threads"));
    }

    @Test
    void load_operatorsThatTheDelegateDidNotOffer_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 3), 2);
        assertTrue(
                refusal(table(some, measured(some, 1, CLOSE)))
                        .contains("operators that the delegate did not offer"));
    }

    /** The table is consistent: only the delegate's report reveals the forgery. */
    @Test
    void load_forgedPartitions_isRefusedWhereTheDelegateWasAsked() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 3), 2);
        ProfileTable forged =
                new ProfileTable(
                        List.of(ImmutableSortedSet.of(0, 1, 2, 3), ImmutableSortedSet.of(5, 6)),
                        List.of(measured(some, 1, CLOSE)),
                        some,
                        "forged",
                        3,
                        4);
        assertTrue(wanted.admits(forged));
        assertTrue(
                refusal(forged, wanted.offering(model.partitions()))
                        .contains("other partitions than the delegate reports"));
        for (List<SortedSet<Integer>> others :
                List.<List<SortedSet<Integer>>>of(
                        List.of(),
                        List.of(ImmutableSortedSet.of(0, 1, 2)),
                        List.of(ImmutableSortedSet.of(5, 6), ImmutableSortedSet.of(0, 1, 2)))) {
            ProfileTable cpu =
                    new ProfileTable(others, List.of(), Candidate.cpu(2), "forged", 3, 4);
            assertTrue(wanted.admits(cpu));
            assertFalse(wanted.offering(model.partitions()).admits(cpu), others::toString);
        }
    }

    /** Even before the delegate has reported. */
    @Test
    void load_operatorThatIsExcluded_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 2), 2);
        ProfileTable forged = table(some, measured(some, 1, CLOSE));
        for (int operator : new int[] {0, 1, 6}) {
            Request by = without(operator);
            String message = assertThrows(IOException.class, () -> by.check(forged)).getMessage();
            assertEquals("an operator that is excluded", message);
            assertFalse(by.offering(model.partitions()).admits(forged));
        }
        wanted = without(3);
        assertTrue(wanted.admits(forged));
    }

    @Test
    void load_unrequestedTransientBuffers_isRefused() throws IOException {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2).withTransientBuffers();
        ProfileTable forged = table(some, measured(some, 1, CLOSE));
        assertTrue(refusal(forged).contains("buffers that nobody asked for"));

        wanted = request(GOAL, true, Set.of());
        assertTrue(wanted.admits(forged));
        assertTrue(request(GOAL, true, Set.of(3)).offering(model.partitions()).admits(forged));

        Goal latency = new Goal(Objective.LATENCY, OptionalLong.empty());
        Request fastest = request(latency, true, Set.of());
        assertFalse(fastest.admits(forged));
    }

    private Request request(Goal goal, boolean transientBuffers, Set<Integer> excluded) {
        return new Request(
                model.graph(),
                goal,
                List.of(1, 2),
                Optional.empty(),
                Tolerance.AUTO,
                transientBuffers,
                excluded,
                Optional.empty(),
                List.of());
    }

    private Request without(int operator) {
        return request(GOAL, false, Set.of(operator));
    }

    @Test
    void load_operatorInTwoPartitions_isRefused() {
        ProfileTable forged =
                new ProfileTable(
                        List.of(ImmutableSortedSet.of(0, 1), ImmutableSortedSet.of(1, 2)),
                        List.of(),
                        Candidate.cpu(2),
                        "forged",
                        3,
                        4);
        assertTrue(refusal(forged).contains("an operator in two partitions"));
    }

    /** XNNPACK's outputs would then differ. */
    @Test
    void load_constantUnpackedForSomeOfItsReaders_isRefused() throws IOException {
        model.unpacks = true;
        wanted = new Request(model.graph(), GOAL, List.of(1, 2), Optional.empty(), Tolerance.AUTO);
        Candidate some = new Candidate(ImmutableSortedSet.of(1, 2, 5, 6), 2);
        assertTrue(
                refusal(table(some, measured(some, 1, CLOSE)))
                        .contains("a constant that is unpacked for some of its readers"));
        Candidate without = new Candidate(ImmutableSortedSet.of(1, 2, 6), 2);
        assertTrue(wanted.admits(table(without, measured(without, 1, CLOSE))));
    }

    @Test
    void load_choiceWithoutErrorsOfEachOutput_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2);
        assertTrue(
                refusal(table(some, measured(some, 1, List.of())))
                        .contains("errors of 0 of 1 outputs"));
    }

    @Test
    void load_choiceOutsideTheTolerance_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2);
        for (double difference : new double[] {2e-4, Double.POSITIVE_INFINITY}) {
            Entry far =
                    measured(some, 1, List.of(new OutputError(ElementType.FLOAT32, difference)));
            assertTrue(refusal(table(some, far)).contains("outside the tolerance"));
        }
    }

    @Test
    void load_choiceOverTheLimitOfMemory_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2);
        assertTrue(
                refusal(table(some, measured(some, 30_000_001, CLOSE))).contains("over the limit"));
    }

    @Test
    void load_tableThatMeasuringMakes_isAccepted() {
        try (LogCapture log = new LogCapture()) {
            for (ProfileTable sound :
                    List.of(
                            SampleTables.small(1),
                            SampleTables.small(2),
                            table(Candidate.cpu(2), measured(Candidate.cpu(2), 1L << 40, CLOSE)))) {
                ProfileStore.of(model, wanted).save(key, sound);
                assertEquals(Optional.of(sound), ProfileStore.of(model, wanted).load(key));
            }
            assertEquals(List.of(), log.lines());
        }
    }

    private static final Candidate SOME = new Candidate(ImmutableSortedSet.of(0, 1), 2);

    @Test
    void load_unacceptedLighterSet_isRejected() {
        Candidate one = new Candidate(SOME.operators(), 1);
        for (double difference : new double[] {2e-6, 1e-3}) {
            List<OutputError> errors = List.of(new OutputError(ElementType.FLOAT32, difference));
            ProfileTable kept =
                    new ProfileTable(
                            List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6)),
                            List.of(measured(SOME, 1, CLOSE), measured(one, 1, errors)),
                            SOME,
                            List.of(one),
                            "forged",
                            Optional.empty(),
                            1,
                            1);
            ProfileStore.of(model, wanted).save(key, kept);
            try (LogCapture log = new LogCapture()) {
                boolean believed = ProfileStore.of(model, wanted).load(key).isPresent();
                assertEquals(difference < 1e-4, believed);
                assertEquals(believed ? 0 : 1, log.lines("WARN").size());
            }
        }
    }
}
