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
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models with weights of 8 bits and floats between the layers: how far the CPU kernels and XNNPACK,
 * which both quantize the inputs of convolutions while they run, are from each other and from the
 * same network in floats; and which faults a rule would accept that allows a delegate to be as far
 * from the floats as the CPU kernels are. Prints tables.
 */
@Tag("bench")
@Tag("djl-current")
class DynamicRangeBench {

    private static final int INPUTS = 8;
    private static final int SITES = 10;

    /** Moves an output by more than the tolerance of floats ever admits. */
    private static final double EFFECTIVE = 1e-2;

    private static final ImmutableList<String> MODELS =
            ImmutableList.of("mobilenet_v2_dynamic_64", "mobilenet_v2_dynamic");

    private static final ImmutableSet<String> SITE_TYPES =
            ImmutableSet.of("CONV_2D", "DEPTHWISE_CONV_2D", "ADD");

    /** None, and what concerns integers only. */
    private static final Set<Fault> NO_FAULTS =
            EnumSet.of(
                    Fault.NONE, Fault.HALF_EVEN, Fault.HALF_UP, Fault.COARSE, Fault.NOT_A_NUMBER);

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        for (String name : MODELS) {
            print(delegate, name);
        }
    }

    private static void print(FaultyDelegate delegate, String name) throws Exception {
        Path file = TestModels.built(name);
        try (StockInterpreter cpu = new StockInterpreter(file, 1);
                StockInterpreter floats =
                        new StockInterpreter(TestModels.built(name + "_floats"), 1)) {
            List<List<ByteBuffer>> inputs = Closeness.inputs(cpu, INPUTS, 1);
            List<ByteBuffer> ofCpu = inputs.stream().map(x -> cpu.run(x).get(0)).toList();
            List<ByteBuffer> ofFloats = inputs.stream().map(x -> floats.run(x).get(0)).toList();
            try (ServedModel runtime = Closeness.open(file, Delegates.XNNPACK)) {
                List<ByteBuffer> ofXnnpack = outputs(runtime, inputs, cpu.shapes());
                print("%n%s, %d inputs: largest and mean difference%n", name, INPUTS);
                print("  the CPU kernels from the floats  %s%n", both(ofCpu, ofFloats));
                print("  XNNPACK from the floats          %s%n", both(ofXnnpack, ofFloats));
                print("  XNNPACK from the CPU kernels     %s%n", both(ofXnnpack, ofCpu));
            }
            Deviation allowed = worst(ofCpu, ofFloats);
            Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), name);
            List<Integer> sites = sites(graph);
            delegate.claim(sites, true);
            delegate.select(FaultyDelegate.EVERY, Fault.NONE);
            try (ServedModel runtime = Closeness.open(file, delegate.name())) {
                List<ByteBuffer> right = outputs(runtime, inputs, cpu.shapes());
                print(
                        "  faults no farther from the floats than the CPU kernels / effective"
                                + " (without a fault: %s)%n",
                        within(worst(right, ofFloats), allowed) ? "accepted" : "refused");
                for (Fault fault : Sets.difference(EnumSet.allOf(Fault.class), NO_FAULTS)) {
                    int accepted = 0;
                    int effective = 0;
                    for (int site : sites) {
                        delegate.select(site, fault);
                        List<ByteBuffer> wrong = outputs(runtime, inputs, cpu.shapes());
                        if (worst(wrong, right).largest() > EFFECTIVE) {
                            effective++;
                            accepted += within(worst(wrong, ofFloats), allowed) ? 1 : 0;
                        }
                    }
                    print("    %-14s %3d / %3d%n", fault, accepted, effective);
                }
            }
        }
    }

    private static List<ByteBuffer> outputs(
            ServedModel runtime, List<List<ByteBuffer>> inputs, List<List<Integer>> shapes) {
        return inputs.stream()
                .map(values -> runtime.run(values, shapes).get(0))
                .map(OutputTensor::data)
                .toList();
    }

    private static boolean within(Deviation deviation, Deviation allowed) {
        return deviation.largest() <= allowed.largest() && deviation.spread() <= allowed.spread();
    }

    private static Deviation worst(List<ByteBuffer> some, List<ByteBuffer> others) {
        Deviation worst = Deviation.NONE;
        for (int i = 0; i < some.size(); i++) {
            worst = worst.and(Closeness.deviation(some.get(i), others.get(i)));
        }
        return worst;
    }

    /** Returns the largest difference, and the geometric mean of those of single inputs. */
    private static String both(List<ByteBuffer> some, List<ByteBuffer> others) {
        double logs = 0;
        for (int i = 0; i < some.size(); i++) {
            logs += Math.log(Closeness.deviation(some.get(i), others.get(i)).largest());
        }
        return String.format(
                Locale.ROOT,
                "%.1e %.1e",
                worst(some, others).largest(),
                Math.exp(logs / some.size()));
    }

    /** Operators all over a model. */
    private static List<Integer> sites(Graph graph) {
        List<Integer> all =
                graph.operators().stream()
                        .filter(operator -> SITE_TYPES.contains(operator.type()))
                        .map(Operator::index)
                        .toList();
        List<Integer> sites = new ArrayList<>();
        for (int i = 0; i < SITES; i++) {
            sites.add(all.get((2 * i + 1) * all.size() / (2 * SITES)));
        }
        return sites;
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
