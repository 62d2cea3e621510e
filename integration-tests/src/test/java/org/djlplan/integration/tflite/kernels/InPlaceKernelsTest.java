package org.djlplan.integration.tflite.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.internal.usage.InPlaceRules;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests every rule by which an operator may overwrite its operand: with operand and result in one
 * place, outputs equal the stock engine's, bit by bit.
 */
class InPlaceKernelsTest {

    private static final int RUNS = 3;

    /** The types that the stock engine's Java classes take as inputs and outputs. */
    private static final ImmutableSet<ElementType> STOCK =
            ImmutableSet.of(
                    ElementType.FLOAT32,
                    ElementType.INT32,
                    ElementType.UINT8,
                    ElementType.INT64,
                    ElementType.BOOL,
                    ElementType.INT8);

    @TempDir static Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    static Stream<InPlaceRules.Rule> rules() {
        return InPlaceRules.allowed().stream();
    }

    @Test
    void allowed_kernelsSeenToDiffer_areNotAllowed() {
        // The compiler made two versions of their loops, one for overlapping operands. These differ
        // in which of two NaNs remains, and whether a subnormal number is kept.
        assertTrue(
                InPlaceRules.allowed().stream()
                        .filter(rule -> rule.type() == ElementType.FLOAT32)
                        .map(InPlaceRules.Rule::operator)
                        .noneMatch(ImmutableSet.of("ADD", "MUL", "RELU_N1_TO_1")::contains));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void run_operandAndResultAtOnePlace_givesTheStockBytes(InPlaceRules.Rule rule)
            throws Exception {
        List<KernelCase> cases = KernelCases.of(rule);
        for (int i = 0; i < cases.size(); i++) {
            KernelCase each = cases.get(i);
            String name = rule.operator() + "_" + rule.type() + "_" + i + ".tflite";
            Path file = each.model().write(folder.resolve(name));
            assertEquals(
                    List.of(ImmutableList.copyOf(each.shared())),
                    AliasAnalysis.aliasClasses(EngineView.of(file, 1).graph()),
                    each.name());
            // Uses one thread or two, in an order that is independent of the cases' groups.
            prove(each, file, 1 + Integer.bitCount(i) % 2);
        }
    }

    private static void prove(KernelCase each, Path file, int threads) throws Exception {
        boolean stockTakesIt = STOCK.contains(each.inputs().get(0).type());
        assertTrue(stockTakesIt || each.copies(), "nothing to compare with: " + each);
        try (ServedModel planned = Served.alone(file, InPlace.TRUE, threads)) {
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<List<ByteBuffer>> outputs = new ArrayList<>();
            for (int seed = 0; seed < RUNS; seed++) {
                Random random = new Random(seed);
                List<ByteBuffer> values =
                        each.inputs().stream()
                                .map(form -> Bits.random(form.type(), form.bytes(), random))
                                .toList();
                inputs.add(values);
                outputs.add(run(planned, each, values));
            }
            PlanReport report = planned.report();
            assertEquals(1, report.plan().inPlaceRecords(), each.name());
            assertTrue(report.plan().strategy().endsWith("+in-place"), report.plan().strategy());
            assertEquals(RUNS, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());

            String name = each.name() + ", " + threads + " threads";
            if (each.copies()) {
                for (int run = 0; run < RUNS; run++) {
                    for (ByteBuffer output : outputs.get(run)) {
                        Bits.assertSame(inputs.get(run).subList(0, 1), List.of(output), name);
                    }
                }
            }
            if (stockTakesIt) {
                try (StockInterpreter stock = new StockInterpreter(file, threads)) {
                    for (int run = 0; run < RUNS; run++) {
                        Bits.assertSame(stock.run(inputs.get(run)), outputs.get(run), name);
                    }
                }
            }
        }
    }

    private static List<ByteBuffer> run(
            ServedModel planned, KernelCase each, List<ByteBuffer> values) {
        return planned
                .run(values, each.inputs().stream().map(ModelSketch.Form::shape).toList())
                .stream()
                .map(OutputTensor::data)
                .toList();
    }
}
