package org.djlplan.memplan.plan.portfolio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.plan.greedy.Naive;
import org.djlplan.memplan.plan.portfolio.PlanImprover.Improvement;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPlannerTest {

    /** Far longer than it takes, which is milliseconds. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static MemoryPlanner planner(Graph graph, InPlace inPlace) {
        return new MemoryPlanner(graph, Strategies.BEST, inPlace);
    }

    private static InPlace when(boolean inPlace) {
        return inPlace ? InPlace.TRUE : InPlace.FALSE;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void searched_planAboveTheBound_isSmallerAndMinimal(boolean inPlace) {
        MemoryPlanner planner = planner(TightGraph.of(inPlace), when(inPlace));
        assertTrue(planner.improvable());
        assertFalse(planner.planned().provedMinimal());
        assertTrue(planner.planned().plan().totalBytes() > TightGraph.MINIMAL_BYTES);
        EvaluatedPlan searched = planner.searched(PlanImprover.within(LIMIT));
        assertEquals(TightGraph.MINIMAL_BYTES, searched.plan().totalBytes());
        assertTrue(searched.provedMinimal());
        assertEquals(inPlace ? "exact-search+in-place" : "exact-search", searched.strategy());
        assertEquals(List.of(), PlanValidator.violations(searched.plan(), 64));
        assertEquals(searched, planner.restored(searched.plan(), true));
    }

    @Test
    void searched_noTimeLeft_isThePlanOfTheStrategies() {
        MemoryPlanner planner = planner(TightGraph.of(false), InPlace.FALSE);
        assertEquals(planner.planned(), planner.searched(PlanImprover.within(Duration.ZERO)));
    }

    @Test
    void searched_interrupted_isThePlanOfTheStrategiesAndStaysInterrupted() {
        MemoryPlanner planner = planner(TightGraph.of(false), InPlace.FALSE);
        Thread.currentThread().interrupt();
        EvaluatedPlan searched = planner.searched(PlanImprover.within(LIMIT));
        assertTrue(Thread.interrupted());
        assertEquals(planner.planned(), searched);
    }

    @Test
    void searched_improverThatIsWrong_isNotTrusted() {
        MemoryPlanner planner = planner(TightGraph.of(true), InPlace.TRUE);
        EvaluatedPlan searched =
                planner.searched(
                        (incumbent, enough) ->
                                new Improvement(allAtZero(incumbent.problem()), true));
        assertEquals(planner.planned(), searched);
    }

    private static OffsetPlan allAtZero(PlanningProblem problem) {
        Map<Integer, Long> offsets =
                problem.units().stream().collect(Collectors.toMap(UsageRecord::tensor, u -> 0L));
        return new OffsetPlan("all-at-zero", problem, offsets);
    }

    @Test
    void searched_provedThatNothingIsSmaller_saysSo() {
        MemoryPlanner planner = planner(TightGraph.of(false), InPlace.FALSE);
        EvaluatedPlan searched =
                planner.searched((incumbent, enough) -> new Improvement(incumbent, true));
        assertSame(planner.planned().plan(), searched.plan());
        assertTrue(searched.provedMinimal());
    }

    /** 512 KiB of saving are out of reach: sharing places is not worth a search. */
    @Test
    void searched_inPlaceCannotPay_searchesWithoutAliases() {
        MemoryPlanner planner = planner(TightGraph.of(true), InPlace.AUTO);
        List<PlanningProblem> asked = new ArrayList<>();
        EvaluatedPlan searched =
                planner.searched(
                        (incumbent, enough) -> {
                            asked.add(incumbent.problem());
                            return new Improvement(incumbent, false);
                        });
        assertEquals(planner.planned(), searched);
        assertTrue(asked.stream().allMatch(problem -> problem.aliasClasses().isEmpty()));
        assertEquals(planner.improvable() ? 1 : 0, asked.size());
    }

    @Test
    void improvable_planAtTheBound_isNot() {
        MemoryPlanner planner = planner(GraphSketch.chain(), InPlace.TRUE);
        assertFalse(planner.improvable());
        assertTrue(planner.planned().provedMinimal());
        EvaluatedPlan searched =
                planner.searched(
                        (incumbent, enough) -> {
                            throw new AssertionError("there is nothing to find");
                        });
        assertEquals(planner.planned(), searched);
    }

    private static OffsetPlan kept(List<List<Integer>> classes) {
        List<UsageRecord> records =
                planner(GraphSketch.chain(), InPlace.FALSE).planned().plan().problem().records();
        return new Naive().plan(new PlanningProblem(records, classes));
    }

    @Test
    void restored_classesThatTheOperatorsAllow_isTaken() {
        MemoryPlanner planner = planner(GraphSketch.chain(), InPlace.TRUE);
        for (List<List<Integer>> classes :
                List.<List<List<Integer>>>of(
                        List.of(),
                        List.of(List.of(1, 2)),
                        List.of(List.of(2, 3)),
                        List.of(List.of(1, 2, 3)))) {
            OffsetPlan plan = kept(classes);
            assertSame(plan, planner.restored(plan, false).plan());
        }
    }

    @Test
    void restored_classesThatTheyDoNotAllow_isRefused() {
        String reason = "its tensors may not share places in that way";
        assertRefused(reason, GraphSketch.chain(), InPlace.TRUE, kept(List.of(List.of(1, 3))));
        assertRefused(reason, GraphSketch.chain(), InPlace.FALSE, kept(List.of(List.of(1, 2))));
    }

    /** The second convolution reads the first one's output while it writes. */
    @Test
    void restored_classOfAnOperatorThatMayNotOverwrite_isRefused() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int a = sketch.tensor(4);
        int b = sketch.tensor(4);
        int c = sketch.tensor(4);
        int output = sketch.tensor(4);
        Graph graph =
                sketch.operator("CONV_2D", a, input)
                        .operator("CONV_2D", b, a)
                        .operator("RELU", c, b)
                        .operator("CONV_2D", output, c)
                        .output(output)
                        .build();
        List<UsageRecord> records =
                planner(graph, InPlace.FALSE).planned().plan().problem().records();
        assertRefused(
                "its tensors may not share places in that way",
                graph,
                InPlace.TRUE,
                new Naive().plan(new PlanningProblem(records, List.of(List.of(a, b)))));
    }

    @Test
    void restored_otherRecords_isRefused() {
        OffsetPlan other = planner(TightGraph.of(false), InPlace.FALSE).planned().plan();
        assertRefused("its tensors are not the model's", GraphSketch.chain(), InPlace.TRUE, other);
    }

    @Test
    void restored_invalidOffsets_isRefused() {
        OffsetPlan overlapping = allAtZero(kept(List.of()).problem());
        assertRefused("it is not valid", GraphSketch.chain(), InPlace.TRUE, overlapping);
    }

    private static void assertRefused(
            String reason, Graph graph, InPlace inPlace, OffsetPlan plan) {
        MemoryPlanner planner = planner(graph, inPlace);
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> planner.restored(plan, true));
        assertEquals(reason, refused.getMessage());
    }
}
