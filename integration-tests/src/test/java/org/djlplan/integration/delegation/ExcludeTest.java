package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.Dataflow;
import org.djlplan.integration.networks.HalfPrecision;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.integration.tflite.TfLiteTests;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests operators that a user excludes from delegation. */
class ExcludeTest implements TfLiteTests {

    private static final String EXCLUDE = "delegation.exclude";

    @TempDir Path folder;

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    private static Map<String, Object> options(String exclude, String profile) {
        return ImmutableMap.of(
                EXCLUDE,
                exclude,
                "delegation.profile",
                profile.equals("off") ? profile : profile + ":1s",
                "memplan.threads",
                "1");
    }

    private Path write(TfLiteFile model) throws Exception {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(model, file);
        return file;
    }

    private static Graph graph(Path file) throws Exception {
        return TfLiteGraphs.toGraph(TfLiteReader.read(file), "model");
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "off"})
    void load_everythingExcluded_isBitExact(String profile) throws Exception {
        Path file = ModelCopy.of("mobilenet_v2", folder);
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("*", profile));
                StockInterpreter stock = new StockInterpreter(file, 1)) {
            assertEquals(0, report(model).delegatedOperators());
            for (int seed = 0; seed < 3; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
            }
        }
    }

    @Test
    void load_typeExcluded_delegatesOnlyOthersAndKeepsThatApart() throws Exception {
        Path file = ModelCopy.of("mobilenet_v2", folder);
        int operators = graph(file).operators().size();
        int additions = FixedChoice.count(file, "ADD");
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("add", "blocking"));
                StockInterpreter stock = new StockInterpreter(file, 1)) {
            DelegationReport report = report(model);
            assertEquals(Origin.MEASURED, report.origin());
            assertTrue(
                    report.delegatedOperators() > 0
                            && report.delegatedOperators() <= operators - additions,
                    report.toString());
            List<ByteBuffer> inputs = stock.randomInputs(1);
            Tolerance.assertWithin(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    report.toString());
        }
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("ADD", "off"))) {
            assertEquals(Origin.STORED, report(model).origin());
        }
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("", "off"))) {
            assertEquals(Origin.UNVERIFIED, report(model).origin(), "of another question");
        }
    }

    @Test
    void load_unknownName_isAnErrorThatNamesTheNearest() throws Exception {
        Path file = TestModels.built("mobilenet_v2");
        for (String profile : List.of("blocking", "off")) {
            IllegalArgumentException e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () -> Planned.loadDirectly(file, options("DEPTHWISE_CONV2D", profile)));
            assertTrue(
                    e.getMessage().startsWith(EXCLUDE + "=DEPTHWISE_CONV2D: ")
                            && e.getMessage().contains("the nearest are DEPTHWISE_CONV_2D, "),
                    e.getMessage());
        }
    }

    /**
     * If a reader of a shared constant is excluded, the operator that unpacks the constant stays in
     * the CPU kernels.
     */
    @ParameterizedTest
    @ValueSource(ints = {HalfPrecision.FIRST, HalfPrecision.SECOND, HalfPrecision.LAST})
    void partitions_readerOfAHalfPrecisionConstantExcluded_areRight(int excluded) throws Exception {
        Path file = write(HalfPrecision.build(1));
        List<Set<Integer>> all = FixedChoice.partitions(file, Delegates.XNNPACK);
        assertEquals(List.of(Set.of(0, 1, 2, 3, 4, 5, 6)), all, "as the delegate takes it");
        List<Set<Integer>> left =
                Dataflow.partitionsWithout(graph(file), all, ImmutableSortedSet.of(excluded));
        SortedSet<Integer> operators =
                ImmutableSortedSet.copyOf(left.stream().flatMap(Set::stream).toList());
        Set<Integer> unpacking =
                excluded == HalfPrecision.SECOND
                        ? Set.of(HalfPrecision.OF_FIRST_AND_LAST)
                        : Set.of(HalfPrecision.OF_SECOND);
        assertEquals(
                Sets.union(unpacking, Sets.difference(Set.of(3, 4, 5, 6), Set.of(excluded))),
                operators);
        assertEquals(left.size(), kernels(file, operators).size(), "kernels of the engine");
        for (Set<Integer> kernel : kernels(file, operators)) {
            assertTrue(left.stream().anyMatch(p -> p.containsAll(kernel)), left + " " + kernel);
        }
        assertSame(file, operators);
    }

    private static List<Set<Integer>> kernels(Path file, SortedSet<Integer> operators)
            throws Exception {
        Candidate candidate = new Candidate(operators, 1);
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            return runner.profile(candidate, 1).stream()
                    .filter(NodeTime::delegated)
                    .<Set<Integer>>map(NodeTime::operators)
                    .toList();
        }
    }

    private static void assertSame(Path file, SortedSet<Integer> operators) throws Exception {
        DelegationChoice choice =
                new DelegationChoice(new Candidate(operators, 1), Origin.MEASURED, "a test");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ServedModel runtime = Served.open(file, choice)) {
            for (int seed = 0; seed < 3; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                List<ByteBuffer> outputs =
                        runtime.run(inputs, stock.shapes()).stream()
                                .map(OutputTensor::data)
                                .toList();
                Tolerance.assertWithin(stock.run(inputs), outputs, operators.toString());
            }
            assertEquals(
                    operators.size(),
                    runtime.report().delegation().orElseThrow().delegatedOperators());
        }
    }
}
