package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Near;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.internal.budget.DerivedConstant;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamedGraph;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.StreamingPlanner;
import org.djlplan.memplan.internal.budget.StreamingProblem;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.planning.StreamedModel;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.DelegatedPart;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.StreamedInterpreter;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests an interpreter that streams some weights while a delegate has packed others. */
class StreamedDelegationTest {

    private static final int INPUTS = 3;
    private static final double LIMIT = 1e-4;

    @TempDir Path folder;

    /** The part of the supported operators that is delegated. */
    private enum Part {
        ALL(position -> true),
        FIRST(position -> position < 5),
        LAST(position -> position >= 5),
        /** Many delegate kernels, with CPU kernels between them. */
        PAIRS(position -> position / 2 % 2 == 0);

        @SuppressWarnings("ImmutableEnumChecker") // functions without state
        private final IntPredicate has;

        Part(IntPredicate has) {
            this.has = has;
        }

        ImmutableSortedSet<Integer> of(List<Set<Integer>> partitions) {
            Set<Integer> all = new TreeSet<>();
            partitions.forEach(all::addAll);
            ImmutableSortedSet.Builder<Integer> part = ImmutableSortedSet.naturalOrder();
            int position = 0;
            for (int operator : all) {
                if (has.test(position++)) {
                    part.add(operator);
                }
            }
            return part.build();
        }
    }

    @ParameterizedTest(name = "{0}, {1} threads, {2}")
    @CsvSource({
        "SMALL_RESNET, 1, ALL",
        "SMALL_RESNET, 1, FIRST",
        "SMALL_RESNET, 1, PAIRS",
        "SMALL_RESNET, 2, ALL",
        "SMALL_RESNET, 2, LAST",
        "SMALL_RESNET, 2, PAIRS",
        "SMALL_VGG, 1, LAST",
        "SMALL_VGG, 2, FIRST",
        "SMALL_VGG, 2, PAIRS"
    })
    void run_inTheLeastArena_answersAsStockWithinTheRule(
            BudgetModels network, int threads, Part part) throws Exception {
        Path file = Budgeted.copy(network, folder);
        Answers expected = Answers.of(file, threads, INPUTS);
        StreamedModel copy;
        try (StreamedCopies copies =
                new StreamedCopies(file, threads, BudgetOptions.UNLIMITED, folder)) {
            copy = copies.of(1L << 30, List.of(), Runnable::run);
        }
        // If kernels have derived data from filters, the copy no longer contains these.
        assertEquals(threads > 1, copy.derivedBeginBytes().isPresent());
        try (OpenModel model = OpenModel.of(copy.file());
                OpenModel original = OpenModel.of(file);
                StreamedInterpreter cpu =
                        StreamedInterpreter.open(
                                model, threads, List.of(), WeightStream.Io.CACHED)) {
            ImmutableSortedSet<Integer> operators =
                    part.of(model.partitions(Delegates.named(Delegates.XNNPACK)));
            assertFalse(operators.isEmpty());
            DelegatedPart delegated =
                    new DelegatedPart(
                            Delegates.named(Delegates.XNNPACK),
                            operators,
                            copy.derivedBeginBytes().map(unused -> original));
            List<DerivedConstant> derived = cpu.derived(copy.derivedBeginBytes());
            try (StreamedInterpreter interpreter =
                    StreamedInterpreter.open(model, threads, delegated, WeightStream.Io.CACHED)) {
                assertEquals(operators.size(), interpreter.delegatedOperators());
                plan(interpreter, copy, interpreter.derived(derived));
                for (int i = 0; i < INPUTS; i++) {
                    double error =
                            Near.relativeError(
                                    interpreter.run(expected.inputs().get(i)).get(0).data(),
                                    expected.outputs().get(i).get(0));
                    assertTrue(error <= LIMIT, "input " + i + ": " + error);
                }
            }
        }
    }

    private static void plan(
            StreamedInterpreter interpreter, StreamedModel copy, List<DerivedConstant> derived)
            throws Exception {
        StreamedGraph graph = new StreamedGraph(interpreter.graph(), copy.views(), derived);
        StreamingProblem problem = graph.problem(StepCosts.unknown(graph.steps()));
        StreamingPlan plan =
                new StreamingPlanner()
                        .plan(problem, StreamingPlanner.leastBudgetBytes(problem), graph::nameOf);
        interpreter.schedule(graph.schedule(plan));
        interpreter.prime();
    }
}
