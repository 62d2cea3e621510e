package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.djlplan.delegation.internal.SampleTables;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which stored tables a request accepts. */
class RequestTest {

    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());
    private static final List<OutputError> CLOSE =
            List.of(new OutputError(ElementType.FLOAT32, 2e-6));
    private static final Candidate SOME = new Candidate(ImmutableSortedSet.of(0, 1), 2);

    @TempDir Path folder;
    private FakeModel model;

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    private Request request(boolean transientBuffers) {
        return new Request(
                model.graph(),
                LATENCY,
                List.of(1, 2),
                Optional.empty(),
                Tolerance.AUTO,
                transientBuffers,
                Set.of(),
                List.of());
    }

    private Request request() {
        return request(false);
    }

    private static Entry measured(Candidate candidate, long bytes, List<OutputError> errors) {
        return new Entry.Measured(candidate, 1, new Latency(2, 1, 3, 30), bytes, errors);
    }

    private static ProfileTable table(
            List<SortedSet<Integer>> partitions, Candidate chosen, Entry... entries) {
        return new ProfileTable(partitions, List.of(entries), chosen, "forged", 3, 4);
    }

    private static ProfileTable table(Candidate chosen, Entry... entries) {
        return table(
                List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6)),
                chosen,
                entries);
    }

    private static ProfileTable choosing(Candidate chosen) {
        return table(chosen, measured(chosen, 1, CLOSE));
    }

    private static void assertRefused(Request request, ProfileTable table, String reason) {
        String message = assertThrows(IOException.class, () -> request.check(table)).getMessage();
        assertTrue(message.contains(reason), message);
    }

    @Test
    void check_tableThatMeasuringMakes_isAccepted() throws IOException {
        request().check(SampleTables.small(1));
        request().check(SampleTables.small(2));
        request().check(table(Candidate.cpu(2), measured(Candidate.cpu(2), 1L << 40, CLOSE)));
        // Without delegation, the CPU kernels run with the engine's own number of threads.
        request().check(table(Candidate.cpu(-1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, 5000, 3, -1})
    void check_threadsThatWereNotAskedFor_isRefused(int threads) {
        assertRefused(
                request(),
                choosing(SOME.withThreads(threads)),
                "a set with " + threads + " threads");
    }

    @Test
    void check_operatorsThatTheDelegateDidNotOffer_isRefused() {
        Candidate more = new Candidate(ImmutableSortedSet.of(0, 3), 2);
        assertRefused(request(), choosing(more), "operators that the delegate did not offer");
        for (int operator : new int[] {FakeModel.OPERATORS, Integer.MAX_VALUE}) {
            Candidate none = new Candidate(ImmutableSortedSet.of(operator), 2);
            ProfileTable table = table(List.of(none.operators()), none, measured(none, 1, CLOSE));
            assertRefused(request(), table, "operators that the delegate did not offer");
        }
    }

    @Test
    void check_buffersThatTheDelegateDoesNotOffer_isRefused() throws IOException {
        ProfileTable table = choosing(SOME.withTransientBuffers());
        assertRefused(request(), table, "buffers that the delegate does not offer");
        request(true).check(table);
    }

    /** XNNPACK's outputs would then differ. */
    @Test
    void check_constantUnpackedForSomeOfItsReaders_isRefused() throws IOException {
        model.unpacks = true;
        Candidate some = new Candidate(ImmutableSortedSet.of(1, 2, 5, 6), 2);
        assertRefused(
                request(), choosing(some), "a constant that is unpacked for some of its readers");
        request().check(choosing(new Candidate(ImmutableSortedSet.of(1, 2, 6), 2)));
    }

    /** A forged reason must not write lines of its own into a log. */
    @Test
    void table_reasonWithLineBreaks_isOneLine() {
        String forged = "fast\n2026-01-01 WARN \u001b[31mforged\r\n";
        String line = "fast 2026-01-01 WARN  [31mforged  ";
        ProfileTable table = choosing(SOME).choosing(SOME, forged).with(Optional.of(forged));
        assertEquals(line, table.reason());
        assertEquals(Optional.of(line), table.caveat());
    }
}
