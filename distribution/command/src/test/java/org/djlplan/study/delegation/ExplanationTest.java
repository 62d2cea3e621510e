package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.study.delegation.Explanation.DelegateRules;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests explanations on a chain of operators 1 to 8. The delegate supports 1 to 3, 5, 6 and 8; an
 * operator in front of the chain unpacks the weights of 1 and 5.
 */
class ExplanationTest {

    private static final List<SortedSet<Integer>> PARTITIONS =
            List.of(set(1, 2, 3), set(5, 6), set(8));
    private static final SortedSet<Integer> ALL = set(1, 2, 3, 5, 6, 8);
    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());

    private final List<Entry> entries = new ArrayList<>();
    private Goal goal = LATENCY;
    private Tolerance tolerance = Tolerance.of(1e-4);

    private static SortedSet<Integer> set(Integer... operators) {
        return ImmutableSortedSet.copyOf(operators);
    }

    private static Graph graph() {
        GraphSketch sketch = new GraphSketch();
        List<Integer> shape = List.of(1, 8, 8, 4);
        int x = sketch.input(1, 8, 8, 4);
        int weights = sketch.halfWeights(4, 1, 1, 4);
        for (int i = 1; i <= 8; i++) {
            boolean weighted = i == 1 || i == 5;
            String type = i == 4 || i == 7 ? "TANH" : weighted ? "CONV_2D" : "ABS";
            x =
                    weighted
                            ? sketch.operator(type, shape, x, weights)
                            : sketch.operator(type, shape, x);
        }
        return sketch.output(x).build();
    }

    private void measured(SortedSet<Integer> operators, int threads, double millis, long bytes) {
        long nanos = Math.round(millis * 1e6);
        entries.add(
                new Entry.Measured(
                        new Candidate(operators, threads),
                        1,
                        new Latency(nanos, nanos, nanos, 9),
                        bytes,
                        List.of()));
    }

    private void measured(SortedSet<Integer> operators, double millis) {
        measured(operators, 1, millis, 1_000_000);
    }

    private void wrong(SortedSet<Integer> operators, OutputError... errors) {
        entries.add(new Entry.Wrong(new Candidate(operators, 1), List.of(errors)));
    }

    private void failed(SortedSet<Integer> operators, Kind kind, String message) {
        entries.add(new Entry.Failed(new Candidate(operators, 1), kind, message));
    }

    private List<Verdict> verdicts(SortedSet<Integer> chosen, Integer... excluded) {
        ProfileTable table =
                new ProfileTable(
                        PARTITIONS, entries, new Candidate(chosen, 1), "as a test wants", 1, 1);
        return Explanation.of(
                graph(),
                table,
                goal,
                tolerance,
                Set.of(excluded),
                XnnpackRules.of("xnnpack", "2.6.2", graph()));
    }

    private static String text(Verdict verdict) {
        return verdict.kind() + ": " + verdict.reason();
    }

    @Test
    void of_everythingChosen_isDelegatedButWhatTheDelegateLacks() {
        measured(set(), 9);
        measured(set(0, 1, 2, 3, 5, 6, 8), 2);
        List<Verdict> verdicts = verdicts(set(0, 1, 2, 3, 5, 6, 8));
        assertEquals(9, verdicts.size());
        for (int i = 0; i < 9; i++) {
            assertEquals(
                    i == 4 || i == 7 ? "unsupported: XNNPACK 2.6 has no TANH" : "delegated: ",
                    text(verdicts.get(i)));
        }
    }

    @Test
    void of_unpackingForOneThatIsNotDelegated_says_so() {
        measured(set(), 9);
        measured(set(1, 2, 3), 2);
        measured(ALL, 3);
        List<Verdict> verdicts = verdicts(set(1, 2, 3));
        assertEquals("not worth it", verdicts.get(5).kind());
        assertEquals(
                "unpacks a constant: which an operator reads that is not delegated",
                text(verdicts.get(0)));
        assertEquals(Verdict.UNPACKS, verdicts(set(), 1, 5).get(0), "nobody excluded it");
    }

    @Test
    void of_unpackingOfWhichAllReadersHaveOneReason_hasItToo() {
        measured(set(), 9);
        measured(set(0, 1, 2, 3, 5, 6, 8), 9.5);
        List<Verdict> verdicts = verdicts(set());
        assertEquals("not worth it", verdicts.get(1).kind());
        assertEquals(verdicts.get(1), verdicts.get(0));
    }

    @Test
    void of_excluded_saysByWhom() {
        measured(set(), 9);
        measured(set(1, 2, 3), 2);
        List<Verdict> verdicts = verdicts(set(1, 2, 3), 4, 5);
        assertEquals("excluded: by you", text(verdicts.get(4)), "whether it could be or not");
        assertEquals(Verdict.EXCLUDED, verdicts.get(5));
    }

    /** Partition 8 costs 0.25 ms: the nearest set that contains it shows how much. */
    @Test
    void of_slowerWithIt_saysByHowMuch() {
        measured(set(), 9);
        measured(set(8), 9.5);
        measured(ALL, 2.25);
        measured(set(1, 2, 3, 5, 6), 2);
        measured(set(1, 2, 3, 8), 4);
        measured(ALL, 2, 1.5, 1_000_000);
        List<Verdict> verdicts = verdicts(set(1, 2, 3, 5, 6));
        Verdict verdict = verdicts.get(8);
        assertEquals(0.25, verdict.figures().get("slowerMillis"));
        assertEquals(
                "not worth it: 0.250 ms slower (2.250 ms in a set of 6 operators, 2.000 as"
                        + " chosen)",
                text(verdict));
        assertEquals(Verdict.DELEGATED, verdicts.get(5));
    }

    @Test
    void of_asFastWithIt_isNotWorthItEither() {
        measured(set(), 9);
        measured(set(5), 8.99);
        assertTrue(
                text(verdicts(set()).get(5))
                        .startsWith("not worth it: not faster beyond the noise (8.990 ms alone,"));
    }

    @Test
    void of_memoryGoal_printsMemory() {
        goal = new Goal(Objective.MEMORY, OptionalLong.empty());
        measured(set(), 1, 9, 1_000_000);
        measured(ALL, 1, 2, 4_500_000);
        assertTrue(
                text(verdicts(set()).get(1))
                        .startsWith("not worth it: 7.000 ms faster, 3.5 MB more ("));
        goal = new Goal(Objective.LATENCY, OptionalLong.of(4_000_000));
        assertEquals(
                "over the limit: 4.5 MB in a set of 6 operators, where 4.0 may be",
                text(verdicts(set()).get(1)));
    }

    /** CPU kernels may be chosen with the engine's default number of threads. */
    @Test
    void of_cpuKernelsWithTheEnginesThreads_setsOfAnyThreadsTell() {
        measured(set(), -1, 9, 1);
        measured(ALL, 2, 10, 1);
        ProfileTable table =
                new ProfileTable(PARTITIONS, entries, Candidate.cpu(-1), "as a test wants", 1, 1);
        assertEquals(
                "not worth it",
                Explanation.of(graph(), table, goal, tolerance, Set.of(), DelegateRules.UNKNOWN)
                        .get(8)
                        .kind());
    }

    /**
     * Results with another number of threads than the chosen set's count only if there are no
     * others.
     */
    @Test
    void of_otherThreads_doNotCount() {
        measured(set(1, 2, 3), 1, 2, 1);
        measured(ALL, 2, 3, 1);
        assertEquals(
                "not tried: no set that has it was measured in the time",
                text(verdicts(set(1, 2, 3)).get(8)));
    }

    @Test
    void of_outputsDiffer_saysByHowMuchWithTheSmallestSet() {
        measured(set(), 9);
        measured(set(1, 2, 3), 2);
        OutputError fine = new OutputError(ElementType.FLOAT32, 9e-5);
        wrong(ALL, new OutputError(ElementType.FLOAT32, 4e-3), fine);
        wrong(
                set(5, 6),
                fine,
                new OutputError(ElementType.FLOAT32, 2.5e-3),
                new OutputError(ElementType.FLOAT32, 1.5e-3));
        List<Verdict> verdicts = verdicts(set(1, 2, 3));
        assertEquals(
                "outside the tolerance: an output differs by 2.5e-03 in a set of 2 operators,"
                        + " where 1.0e-04 is accepted",
                text(verdicts.get(6)));
        assertEquals(
                "outside the tolerance: an output differs by 4.0e-03 in a set of 6 operators,"
                        + " where 1.0e-04 is accepted",
                text(verdicts.get(8)));
    }

    /**
     * The difference of all elements together is too large, though no single one is; the noise
     * moves the limit.
     */
    @Test
    void of_outputsDifferInNorm_isReported() {
        tolerance = Tolerance.AUTO;
        measured(set(), 9);
        wrong(
                set(8),
                new OutputError(
                        ElementType.FLOAT32,
                        new Deviation(5e-4, 1.5e-3, 0),
                        new Deviation(1e-4, 5e-5, 0),
                        1));
        wrong(
                set(5),
                new OutputError(ElementType.INT8, new Deviation(3, .5, 0), Deviation.NONE, 1));
        List<Verdict> verdicts = verdicts(set());
        assertEquals(
                "outside the tolerance: an output differs by 1.5e-03 on the whole alone, where"
                        + " 8.0e-04 is accepted",
                text(verdicts.get(8)));
        assertEquals(
                "outside the tolerance: an output differs by 3 steps in too many elements, alone",
                text(verdicts.get(5)));
    }

    @Test
    void of_quantizedOutputsDiffer_saysSteps() {
        measured(set(), 9);
        wrong(set(8), new OutputError(ElementType.INT8, 3));
        assertEquals(
                "outside the tolerance: an output differs by 3 steps alone,"
                        + " where one step is accepted",
                text(verdicts(set()).get(8)));
    }

    @Test
    void of_wrongOperator_saysWhich() {
        tolerance = Tolerance.AUTO;
        measured(set(), 9);
        OutputError near = new OutputError(ElementType.INT8, 3);
        wrong(set(5, 6), near.withOperators(new ByOperator(6, 3.2)));
        wrong(set(8), near.withOperators(new ByOperator(8, Double.POSITIVE_INFINITY)));
        wrong(set(2), new OutputError(ElementType.INT8, 9).withOperators(new ByOperator(2, .5)));
        List<Verdict> verdicts = verdicts(set());
        assertEquals(
                "outside the tolerance: operator 6 differs by 3.2 times what is accepted of one, in"
                        + " a set of 2 operators",
                text(verdicts.get(5)));
        assertEquals(
                "outside the tolerance: outputs are not what its operators compute one by one,"
                        + " alone",
                text(verdicts.get(8)));
        assertEquals(
                "outside the tolerance: an output differs by 9 steps alone, where 4 steps is"
                        + " accepted",
                text(verdicts.get(2)));
    }

    @Test
    void of_failure_saysHow() {
        measured(set(), 9);
        failed(ALL, Kind.TIMED_OUT, "no answer in 30 s");
        failed(set(5, 6), Kind.CRASHED, "exit code 139\nmore");
        failed(set(8), Kind.REFUSED, "no memory");
        List<Verdict> verdicts = verdicts(set());
        assertEquals(
                "failed: crashed in a set of 2 operators: exit code 139", text(verdicts.get(5)));
        assertEquals("failed: refused alone: no memory", text(verdicts.get(8)));
        assertEquals(
                "failed: timed out in a set of 6 operators: no answer in 30 s",
                text(verdicts.get(1)));
    }

    /** A failure of a set far from the choice is no reason if a set near the choice ran. */
    @Test
    void of_severalReasons_theNearestSetCounts() {
        measured(set(), 9);
        measured(set(1, 2, 3), 2);
        measured(set(1, 2, 3, 8), 2.1);
        wrong(ALL, new OutputError(ElementType.FLOAT32, 4e-3));
        failed(set(8), Kind.CRASHED, "");
        List<Verdict> verdicts = verdicts(set(1, 2, 3));
        assertEquals("not worth it", verdicts.get(8).kind());
        assertEquals("outside the tolerance", verdicts.get(5).kind());
    }

    @Test
    void of_nothingMeasured_isNotTried() {
        List<Verdict> verdicts = verdicts(set());
        assertEquals(Verdict.UNTRIED, verdicts.get(1));
        assertEquals("unsupported", verdicts.get(4).kind());
    }

    @ParameterizedTest
    @CsvSource({
        "xnnpack, 2.6.2, XNNPACK 2.6 has no TANH",
        "xnnpack, 2.21.0, the delegate does not take it",
        "xnnpack, 2.60.1, the delegate does not take it",
        "/lib/libgpu.so, 2.6.2, the delegate does not take it",
    })
    void refusal_knownReleaseOfXnnpack_saysMore(String delegate, String release, String refusal) {
        assertEquals(refusal, XnnpackRules.of(delegate, release, graph()).refusal(4));
    }
}
