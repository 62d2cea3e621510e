package org.djlplan.integration.delegation;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * For models with 8-bit weights and floats between the layers, compares the outputs of CPU kernels,
 * of XNNPACK, and of a copy of the model with the same weights as floats. CPU kernels and XNNPACK
 * both quantize the inputs of convolutions at run time. Prints a table.
 */
@Tag("bench")
@Tag("djl-current")
class DynamicRangeBench {

    private static final int INPUTS = 8;
    private static final ImmutableList<String> MODELS =
            ImmutableList.of("mobilenet_v2_dynamic_64", "mobilenet_v2_dynamic");

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        for (String name : MODELS) {
            print(name);
        }
    }

    private static void print(String name) throws Exception {
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
        }
    }

    private static List<ByteBuffer> outputs(
            ServedModel runtime, List<List<ByteBuffer>> inputs, List<List<Integer>> shapes) {
        return inputs.stream()
                .map(values -> runtime.run(values, shapes).get(0))
                .map(OutputTensor::data)
                .toList();
    }

    private static Deviation worst(List<ByteBuffer> some, List<ByteBuffer> others) {
        Deviation worst = Deviation.NONE;
        for (int i = 0; i < some.size(); i++) {
            worst = worst.and(Closeness.deviation(some.get(i), others.get(i)));
        }
        return worst;
    }

    /** Returns the largest difference, and the geometric mean of the inputs' differences. */
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

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
