package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.networks.HardNetworks;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures, on several sets of inputs, which outputs the acceptance rule for delegates accepts.
 * Either correct XNNPACK kernels run all operators; or one operator has a fault and XNNPACK runs
 * the others, whose rounding adds to the fault. Prints tables; the assertions are in {@code
 * AcceptanceTest}.
 */
@Tag("bench")
class AcceptanceBench {

    private static final int SITES = 20;
    private static final int FAULTY_INPUTS = 2;
    private static final int RIGHT_INPUTS = 4;
    private static final int RIGHT_SETS = 3;

    /** The rule takes 8 runs, and more if the result is close to the limit. */
    private static final int NOISE_RUNS = 16;

    private static final ImmutableList<String> REAL =
            ImmutableList.of(
                    "face_landmark", "hand_landmark_full", "palm_detection_full", "MobileFaceNet");

    private static final ImmutableSet<String> NO_SITES =
            ImmutableSet.of("DEQUANTIZE", "DENSIFY", "RESHAPE");

    /** No fault, and other roundings of quantized operators, which these models do not have. */
    private static final Set<Fault> NO_FAULTS =
            EnumSet.of(Fault.NONE, Fault.HALF_EVEN, Fault.HALF_UP, Fault.COARSE);

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        printRight();
        printFaulty();
    }

    private static Graph graph(Path file) throws Exception {
        return TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
    }

    private static List<Path> present(List<String> names) {
        return names.stream().map(RealModels.TFLITE::file).filter(Files::isRegularFile).toList();
    }

    private static Stream<Path> hard() {
        return Stream.concat(Stream.of("hard_small"), HardNetworks.large().stream())
                .map(TestModels::built);
    }

    private void printRight() throws Exception {
        print("Everything in XNNPACK%n");
        print(
                "%-34s %9s %10s %10s %8s %8s%n",
                "model", "accepted", "difference", "noise", "/ noise", "in units");
        List<Path> files = new ArrayList<>(TestModels.present());
        hard().forEach(files::add);
        for (Path file : files) {
            Graph graph = graph(file);
            int accepted = 0;
            OutputError worst = null;
            double units = 0;
            try (StockInterpreter stock = new StockInterpreter(file, 1);
                    ServedModel runtime = Closeness.open(file, Delegates.XNNPACK)) {
                for (int set = 0; set < RIGHT_SETS; set++) {
                    Closeness closeness =
                            Closeness.measure(
                                    graph,
                                    stock,
                                    Closeness.inputs(stock, RIGHT_INPUTS, 100L * set),
                                    NOISE_RUNS);
                    List<OutputError> errors = closeness.errors(closeness.outputs(runtime));
                    accepted += Closeness.accepted(errors) ? 1 : 0;
                    units = Math.max(units, Closeness.inUnits(errors));
                    for (OutputError error : errors) {
                        if (worst == null || ratio(error) > ratio(worst)) {
                            worst = error;
                        }
                    }
                }
            }
            print(
                    "%-34s %4d of %d %10.1e %10.1e %8.1f %8.2f%n",
                    file.getFileName(),
                    accepted,
                    RIGHT_SETS,
                    worst.difference(),
                    worst.noise().largest(),
                    ratio(worst),
                    units);
        }
    }

    private static double ratio(OutputError error) {
        return error.difference() == 0 ? 0 : error.difference() / error.noise().largest();
    }

    private void printFaulty() throws Exception {
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        print("%nFaults in one operator: accepted / effective, largest accepted in units%n");
        List<Path> files = Stream.concat(present(REAL).stream(), hard()).toList();
        int[] all = new int[2];
        for (Path file : files) {
            Graph graph = graph(file);
            List<Integer> sites = FaultyDelegate.allOver(candidates(graph), SITES);
            try (StockInterpreter stock = new StockInterpreter(file, 1)) {
                Closeness closeness =
                        Closeness.measure(
                                graph,
                                stock,
                                Closeness.inputs(stock, FAULTY_INPUTS, 1),
                                NOISE_RUNS);
                delegate.claim(sites, true);
                delegate.select(FaultyDelegate.EVERY, Fault.NONE);
                try (ServedModel runtime = Closeness.open(file, delegate.name())) {
                    List<List<ByteBuffer>> right = closeness.outputs(runtime);
                    print(
                            "%n%s: noise %.1e, without a fault %s (%.2f units)%n",
                            file.getFileName(),
                            closeness.noise(),
                            Closeness.accepted(closeness.errors(right)) ? "accepted" : "REFUSED",
                            Closeness.inUnits(closeness.errors(right)));
                    for (Fault fault : EnumSet.complementOf(EnumSet.copyOf(NO_FAULTS))) {
                        int[] counts = new int[2];
                        double units = 0;
                        for (int site : sites) {
                            delegate.select(site, fault);
                            List<List<ByteBuffer>> outputs = closeness.outputs(runtime);
                            List<OutputError> errors = closeness.errors(outputs);
                            if (closeness.moved(right, outputs)) {
                                counts[1]++;
                                if (Closeness.accepted(errors)) {
                                    counts[0]++;
                                    units = Math.max(units, Closeness.inUnits(errors));
                                }
                            }
                        }
                        all[0] += counts[0];
                        all[1] += counts[1];
                        print(
                                "  %-14s %3d / %3d %s%n",
                                fault,
                                counts[0],
                                counts[1],
                                counts[0] == 0 ? "" : String.format(Locale.ROOT, "%.2f", units));
                    }
                }
                printEverywhere(delegate, file, graph, closeness);
            }
        }
        print("%nall: %d of %d%n", all[0], all[1]);
    }

    /** Prints results for all operators of a model in lower precision. */
    private static void printEverywhere(
            FaultyDelegate delegate, Path file, Graph graph, Closeness closeness) throws Exception {
        delegate.claim(candidates(graph), false);
        try (ServedModel runtime = Closeness.open(file, delegate.name())) {
            for (Fault fault : List.of(Fault.DENORMALS, Fault.F16, Fault.BF16, Fault.INT8)) {
                delegate.select(FaultyDelegate.EVERY, fault);
                List<OutputError> errors = closeness.errors(closeness.outputs(runtime));
                print(
                        "  everywhere %-10s %s, %.2g units%n",
                        fault,
                        Closeness.accepted(errors) ? "accepted" : "refused",
                        Closeness.inUnits(errors));
            }
        }
    }

    private static List<Integer> candidates(Graph graph) {
        return graph.operators().stream()
                .filter(operator -> !NO_SITES.contains(operator.type()))
                .filter(operator -> isFloat(graph, operator))
                .map(Operator::index)
                .toList();
    }

    private static boolean isFloat(Graph graph, Operator operator) {
        return graph.tensors().get(operator.outputs().get(0)).type() == ElementType.FLOAT32;
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
