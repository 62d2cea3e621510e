package org.djlplan.integration.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
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
 * Measures the fixed cost of a prediction with a model of one operator: through DJL, with three
 * calls of TensorFlow Lite's C interface from Java, and from a C program before and after.
 */
@Tag("bench")
@Tag("djl-current")
class FixedCostBench {

    @TempDir Path folder;

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
            String before = loopInC(file);
            Rounds rounds =
                    new Rounds()
                            .step("C interface", bare::run)
                            .step("unplanned", () -> plainPredictor.predict(arrays).close())
                            .step("caller's thread", () -> plannedPredictor.predict(arrays).close())
                            .step("workers", () -> workersPredictor.predict(arrays).close());
            // So few each time that they take less than a time slice of a busy system.
            rounds.run(400, 1, 200).run(1_001, 1, 200);
            rounds.print("a prediction", "µs", 1e3);
            System.out.printf("loop in C, µs: %s before, %s after%n", before, loopInC(file));
        }
    }

    /** Returns the microseconds of a prediction in a process without Java. */
    private String loopInC(Path model) throws Exception {
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
        return new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    }
}
