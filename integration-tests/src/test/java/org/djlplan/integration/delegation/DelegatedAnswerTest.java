package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.djlplan.delegation.internal.choice.Units;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that outputs stay within the tolerance of the CPU kernels' outputs for every choice of
 * delegated operators.
 */
@OnEveryDjlWhenLong
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DelegatedAnswerTest {

    private static final int INPUTS = 4;
    private static final int SUBSETS = 3;
    private static final int MOST_UNITS = 12;
    private static final int THREADS = 2;

    static List<Path> builtModels() {
        List<Path> models = new ArrayList<>(TestModels.built());
        models.add(TestModels.built("uneven"));
        return models;
    }

    static List<Path> realModels() {
        return TestModels.real();
    }

    @ParameterizedTest
    @MethodSource("builtModels")
    void predict_allAndAnyUnion_withinTolerance(Path file) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        List<Set<Integer>> partitions = partitions(file);
        List<SortedSet<Integer>> choices = new ArrayList<>();
        choices.add(ImmutableSortedSet.copyOf(Iterables.concat(partitions)));
        Units units = Units.of(graph, partitions).cut(MOST_UNITS);
        Random random = new Random(file.getFileName().hashCode());
        while (choices.size() <= SUBSETS) {
            Set<Integer> some =
                    units.indices().stream()
                            .filter(unit -> random.nextBoolean())
                            .collect(Collectors.toSet());
            choices.add(units.operators(some));
        }
        try (StockInterpreter stock = new StockInterpreter(file, THREADS)) {
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<List<ByteBuffer>> expected = new ArrayList<>();
            for (int seed = 0; seed < INPUTS; seed++) {
                inputs.add(stock.randomInputs(seed));
                expected.add(stock.run(inputs.get(seed)));
            }
            for (SortedSet<Integer> operators : choices) {
                Candidate candidate = new Candidate(operators, THREADS);
                try (ServedModel runtime =
                        Served.open(
                                file, new DelegationChoice(candidate, Origin.MEASURED, "a test"))) {
                    for (int seed = 0; seed < INPUTS; seed++) {
                        List<ByteBuffer> outputs =
                                runtime.run(inputs.get(seed), stock.shapes()).stream()
                                        .map(OutputTensor::data)
                                        .toList();
                        Tolerance.assertWithin(
                                expected.get(seed), outputs, file + ", input " + seed);
                    }
                    assertEquals(0, runtime.report().predictions().unplanned());
                    DelegationReport report = runtime.report().delegation().orElseThrow();
                    assertEquals(operators.size(), report.delegatedOperators());
                    assertEquals(graph.operators().size(), report.operators());
                }
            }
        }
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @MethodSource("realModels")
    void predict_allAndAnyUnionOfARealModel_withinTolerance(Path file) throws Exception {
        predict_allAndAnyUnion_withinTolerance(file);
    }

    private static List<Set<Integer>> partitions(Path file) throws Exception {
        StockInterpreter.loadEngine();
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            List<Set<Integer>> partitions = runner.partitions();
            assertTrue(!partitions.isEmpty(), file.toString());
            return partitions;
        }
    }
}
