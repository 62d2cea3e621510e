package org.djlplan.integration.delegation;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the rule for quantized outputs accepts: XNNPACK for everything, which is right, on several
 * sets of inputs; and faults in one operator, with XNNPACK for the others. What is accepted is
 * looked at again on inputs that the rule did not see. Prints tables.
 */
@Tag("bench")
@Tag("djl-current")
class QuantizedAcceptanceBench {

    private static final int SITES = 20;

    /** As many inputs as the rule takes. */
    private static final int INPUTS = 5;

    private static final int OTHER_INPUTS = 10;
    private static final int RIGHT_SETS = 5;

    /** The rule takes 8, and up to 32 when it is a near thing. */
    private static final int NOISE_RUNS = 16;

    /** From its first seed on, inputs that the rule did not see. */
    private static final long OTHERS = 10_000;

    private static final ImmutableList<String> MODELS =
            ImmutableList.of(
                    "mobilenet_v1_int8_64",
                    "mobilenet_v2_int8_64",
                    "efficientnet_lite_int8_64",
                    "mobilenet_v1_int8",
                    "mobilenet_v2_int8",
                    "efficientnet_lite_int8",
                    "quantized_small",
                    "quantized_classes",
                    "quantized_landmarks");

    /** None, other roundings, and what integers do not have. */
    private static final Set<Fault> NO_FAULTS =
            EnumSet.of(
                    Fault.NONE,
                    Fault.HALF_EVEN,
                    Fault.HALF_UP,
                    Fault.COARSE,
                    Fault.DENORMALS,
                    Fault.NOT_A_NUMBER,
                    Fault.F16,
                    Fault.BF16);

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private final Tally all = new Tally();

    @TempDir Path folder;

    /** What came of faults. */
    private static final class Tally {
        private int accepted;
        private int effective;
        private double largest;
        private int aboveOnOthers;
        private double largestOnOthers;

        void add(Tally other) {
            accepted += other.accepted;
            effective += other.effective;
            largest = Math.max(largest, other.largest);
            aboveOnOthers += other.aboveOnOthers;
            largestOnOthers = Math.max(largestOnOthers, other.largestOnOthers);
        }

        @Override
        public String toString() {
            String counts = String.format(Locale.ROOT, "%3d / %3d", accepted, effective);
            return accepted == 0
                    ? counts
                    : String.format(
                            Locale.ROOT,
                            "%s  %2.0f steps; on other inputs %2.0f, %d above the limit",
                            counts,
                            largest,
                            largestOnOthers,
                            aboveOnOthers);
        }
    }

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        printRight();
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        print("%nFaults in one operator: accepted / effective, the largest accepted%n");
        for (String name : MODELS) {
            printFaulty(delegate, TestModels.built(name));
        }
        print("%nall: %s%n", all);
    }

    private static boolean accepted(List<OutputError> errors) {
        return errors.stream().allMatch(Tolerance.AUTO::admits);
    }

    private static double steps(List<OutputError> errors) {
        return errors.stream().mapToDouble(OutputError::difference).max().orElse(0);
    }

    private static double limit(List<OutputError> errors) {
        return errors.stream().mapToDouble(Tolerance.AUTO::limit).max().orElse(0);
    }

    private void printRight() throws Exception {
        print("Everything in XNNPACK, sets of %d inputs: largest of all outputs%n", INPUTS);
        print(
                "%-26s %8s %6s %6s %9s %9s %7s%n",
                "model", "accepted", "steps", "noise", "> 1 step", "noise", "classes");
        for (String name : MODELS) {
            Path file = TestModels.built(name);
            int accepted = 0;
            double[] most = new double[4];
            int otherTops = 0;
            try (StockInterpreter stock = new StockInterpreter(file, 1);
                    ServedModel runtime = Closeness.open(file, Delegates.XNNPACK)) {
                for (int set = 0; set < RIGHT_SETS; set++) {
                    StepCloseness closeness =
                            StepCloseness.measure(stock, INPUTS, 100L * set, NOISE_RUNS);
                    List<OutputError> errors = closeness.errors(closeness.outputs(runtime));
                    accepted += accepted(errors) ? 1 : 0;
                    for (OutputError error : errors) {
                        most[0] = Math.max(most[0], error.difference());
                        most[1] = Math.max(most[1], error.noise().largest());
                        most[2] = Math.max(most[2], error.deviation().spread());
                        most[3] = Math.max(most[3], error.noise().spread());
                        otherTops += error.deviation().otherTops();
                    }
                }
            }
            print(
                    "%-26s %3d of %d %6.0f %6.0f %8.1f%% %8.1f%% %7d%n",
                    name,
                    accepted,
                    RIGHT_SETS,
                    most[0],
                    most[1],
                    100 * most[2],
                    100 * most[3],
                    otherTops);
        }
    }

    private void printFaulty(FaultyDelegate delegate, Path file) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        List<Integer> sites = sites(graph);
        delegate.claim(sites, true);
        delegate.select(FaultyDelegate.EVERY, Fault.NONE);
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ServedModel runtime = Closeness.open(file, delegate.name())) {
            StepCloseness judged = StepCloseness.measure(stock, INPUTS, 0, NOISE_RUNS);
            StepCloseness others = StepCloseness.measure(stock, OTHER_INPUTS, OTHERS, 1);
            List<List<ByteBuffer>> right = judged.outputs(runtime);
            List<OutputError> rightErrors = judged.errors(right);
            print(
                    "%n%s: limit %.0f, without a fault %s (%.0f steps; on other inputs %.0f)%n",
                    graph.name(),
                    limit(rightErrors),
                    accepted(rightErrors) ? "accepted" : "REFUSED",
                    steps(rightErrors),
                    steps(others.errors(others.outputs(runtime))));
            Tally ofModel = new Tally();
            for (Fault fault : Sets.difference(EnumSet.allOf(Fault.class), NO_FAULTS)) {
                Tally tally = new Tally();
                for (int site : sites) {
                    delegate.select(site, fault);
                    List<List<ByteBuffer>> outputs = judged.outputs(runtime);
                    if (StepCloseness.steps(outputs, right) > 1) {
                        tally.effective++;
                        List<OutputError> errors = judged.errors(outputs);
                        if (accepted(errors)) {
                            double there = steps(others.errors(others.outputs(runtime)));
                            tally.accepted++;
                            tally.largest = Math.max(tally.largest, steps(errors));
                            tally.largestOnOthers = Math.max(tally.largestOnOthers, there);
                            tally.aboveOnOthers += there > limit(errors) ? 1 : 0;
                        }
                    }
                }
                print("  %-14s %s%n", fault, tally);
                ofModel.add(tally);
            }
            print("  %-14s %s%n", "together", ofModel);
            all.add(ofModel);
        }
    }

    private static final ImmutableSet<String> NO_SITES = ImmutableSet.of("RESHAPE");

    /** Operators all over a model. */
    private static List<Integer> sites(Graph graph) {
        List<Integer> candidates =
                graph.operators().stream()
                        .filter(operator -> !NO_SITES.contains(operator.type()))
                        .filter(
                                operator ->
                                        graph.tensors().get(operator.outputs().get(0)).type()
                                                == ElementType.INT8)
                        .map(Operator::index)
                        .toList();
        int count = Math.min(SITES, candidates.size());
        List<Integer> sites = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sites.add(candidates.get((2 * i + 1) * candidates.size() / (2 * count)));
        }
        return sites;
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
