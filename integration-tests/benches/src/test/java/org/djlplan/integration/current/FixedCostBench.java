package org.djlplan.integration.current;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the fixed cost of a prediction with a model of one operator. Compares predictions
 * through DJL with three calls of TensorFlow Lite's C interface. These calls are made from Java in
 * the same rounds, and from a C program before and after the rounds. Prints medians; asserts
 * nothing, because machines are noisy.
 */
@Tag("bench")
@Tag("djl-current")
class FixedCostBench {

    private static final int ROUNDS = 1_001;

    /** So few that they take less than a time slice of a busy system. */
    private static final int TIMES = 200;

    private static final int WARM_UP_ROUNDS = 400;

    @TempDir Path folder;

    private interface Step {
        void run() throws Exception;
    }

    @Test
    void print() throws Exception {
        Path file = folder.resolve("one.tflite");
        TfLiteWriter.write(OddModels.singleOperator(), file);
        Map<String, Object> onCaller = Map.of("memplan.threads", 1, "memplan.workers", 0);
        BareInterpreter bare = BareInterpreter.cpu(file, 1);
        try (StockInterpreter shapes = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> plain = Planned.loadPlain(file, 1);
                ZooModel<NDList, NDList> planned = Planned.loadDirectly(file, onCaller);
                ZooModel<NDList, NDList> onWorkers =
                        Planned.loadDirectly(file, Map.of("memplan.threads", 1));
                Predictor<NDList, NDList> plainPredictor = plain.newPredictor();
                Predictor<NDList, NDList> plannedPredictor = planned.newPredictor();
                Predictor<NDList, NDList> workersPredictor = onWorkers.newPredictor();
                NDManager manager = plain.getNDManager().newSubManager()) {
            List<ByteBuffer> inputs = shapes.randomInputs(1);
            NDList arrays = Planned.inputs(manager, inputs, shapes.shapes());
            Map<String, Step> steps = new LinkedHashMap<>();
            steps.put("C interface", bare::run);
            steps.put("unplanned", () -> plainPredictor.predict(arrays).close());
            steps.put("planned, caller's thread", () -> plannedPredictor.predict(arrays).close());
            steps.put("planned, workers", () -> workersPredictor.predict(arrays).close());
            double before = loopInC(file);
            print(steps);
            System.out.printf(
                    Locale.ROOT,
                    "%-26s %6.2f before, %.2f after%n",
                    "loop in C",
                    before,
                    loopInC(file));
        }
    }

    /** Returns the microseconds of a prediction in a process without Java. */
    private double loopInC(Path model) throws Exception {
        Path program =
                new NativeProgram(folder)
                        .compileProgram(NativeProgram.SOURCES.resolve("bare_loop.c"));
        Process process =
                new ProcessBuilder(
                                program.toString(),
                                EngineLibrary.loaded().file().toString(),
                                model.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, process.waitFor());
        return Double.parseDouble(printed);
    }

    private static void print(Map<String, Step> steps) throws Exception {
        List<Step> all = List.copyOf(steps.values());
        double[][] micros = new double[all.size()][ROUNDS];
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
            for (int i = 0; i < all.size(); i++) {
                // Rounds of the warm-up are overwritten.
                micros[i][Math.max(0, round)] = micros(all.get(i));
            }
        }
        double bare = median(micros[0]);
        System.out.printf(
                Locale.ROOT,
                "DJL %s, TFLite %s: microseconds of a prediction, and beyond the C interface%n",
                Engine.getDjlVersion(),
                Engine.getEngine("TFLite").getVersion());
        int i = 0;
        for (String name : steps.keySet()) {
            double median = median(micros[i++]);
            System.out.printf(Locale.ROOT, "%-26s %6.2f %+6.2f%n", name, median, median - bare);
        }
    }

    private static double micros(Step step) throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < TIMES; i++) {
            step.run();
        }
        return (System.nanoTime() - start) / 1e3 / TIMES;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
