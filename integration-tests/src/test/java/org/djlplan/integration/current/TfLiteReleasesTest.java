package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests planned memory with the TensorFlow Lite library for current DJL; outputs must equal the
 * outputs of the library's own interpreter.
 */
@Tag("djl-current")
class TfLiteReleasesTest {

    private static final int RUNS = 20;

    /**
     * Runs of models whose outputs must be the same bytes. Each run finds the memory as the one
     * before left it.
     */
    private static final int EQUAL_RUNS = 3;

    private static final double MOST_OF_THE_ENGINE = 1.005;

    /**
     * The buffers of two of six convolutions of large images, because a process's memory is not an
     * exact figure.
     */
    private static final long BUFFERS_BYTES = 8_000_000;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() throws Exception {
        StockInterpreter.loadEngine();
    }

    @Test
    void loaded_isTheFileAndItsVersion() throws Exception {
        EngineLibrary loaded = EngineLibrary.loaded();
        assertEquals("libjnitensorflowlite.so", loaded.file().getFileName().toString());
        assertTrue(loaded.version().startsWith("2.2"), loaded.version());
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "mobilenet_v1_int8_64",
                "mobilenet_v1_uint8_64",
                "mobilenet_v2_int8_64",
                "efficientnet_lite_int8_64",
                "mobilenet_v2_dynamic_64"
            })
    void run_quantizedNetwork_givesTheBytesOfTheEngine(String name) throws Exception {
        for (int threads : new int[] {1, 2}) {
            compare(TestModels.built(name), threads);
        }
    }

    static void compare(Path file, int threads) throws Exception {
        try (StockInterpreter engine = new StockInterpreter(file, threads);
                ServedModel model = Served.alone(file, InPlace.TRUE, threads)) {
            for (int run = 0; run < EQUAL_RUNS; run++) {
                assertSame(engine, model, run);
            }
            assertPlanned(model);
        }
    }

    private static void assertSame(StockInterpreter engine, ServedModel model, int seed) {
        List<ByteBuffer> inputs = engine.randomInputs(seed);
        Bits.assertSame(engine.run(inputs), run(model, inputs, engine.shapes()), "input " + seed);
    }

    private static void assertPlanned(ServedModel model) {
        assertTrue(model.report().planned());
        assertEquals(0, model.report().predictions().unplanned());
    }

    @ParameterizedTest
    @CsvSource({"2.20.0, tensorflow-lite-2.20.0", "2.6.2, tflite-native-cpu-"})
    void run_earlierLibrary_givesItsBytes(String version, String jar) throws Exception {
        assertEarlier(version, jar, List.of(TestModels.built("chains")));
    }

    @Tag("long")
    @Test
    void run_earlierLibraryAndBuiltNetworks_givesItsBytes() throws Exception {
        assertEarlier("2.20.0", "tensorflow-lite-2.20.0", TestModels.built());
    }

    @Tag("long")
    @NeedsModels(RealModels.TFLITE)
    @Test
    void run_earlierLibraryAndRealModels_givesItsBytes() throws Exception {
        assertEarlier("2.20.0", "tensorflow-lite-2.20.0", TestModels.real());
    }

    private void assertEarlier(String version, String jar, List<Path> models) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .classPath(VersionMatrix.classPathWithTfLite(jar))
                        .run(
                                ReleaseProgram.class,
                                models.stream().map(Path::toString).toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.printed());
        assertEquals(
                "TFLite " + version + ": " + 2 * models.size(),
                result.out().lines().reduce((a, b) -> b).orElseThrow());
    }

    /** Inputs have any bits: which of two NaNs is kept may depend on where a result is written. */
    @ParameterizedTest
    @CsvSource({"ADD,AddOptions", "MUL,MulOptions", "SUB,SubOptions", "DIV,DivOptions"})
    void run_resultOverAnOperand_givesTheBytesOfTheEngine(String operator, String options)
            throws Exception {
        for (int length : new int[] {7, 64, 1001}) {
            Form form = Form.of(ElementType.FLOAT32, 1, length);
            ModelSketch sketch = new ModelSketch();
            int[] operands = {sketch.input(form), sketch.input(form)};
            for (int i = 0; i < operands.length; i++) {
                operands[i] = sketch.operator("NEG", Optional.empty(), form, operands[i]);
            }
            int result =
                    sketch.operator(operator, Optional.of(FlatTable.of(options)), form, operands);
            sketch.output(sketch.operator("NEG", Optional.empty(), form, result));
            Path file = sketch.write(folder.resolve(operator + length + ".tflite"));
            try (StockInterpreter engine = new StockInterpreter(file, 1);
                    ServedModel model = Served.alone(file, InPlace.TRUE, 1)) {
                assertEquals(1, model.report().plan().inPlaceRecords());
                Random random = new Random(length);
                for (int run = 0; run < RUNS; run++) {
                    List<ByteBuffer> inputs =
                            Stream.generate(() -> Bits.random(form.type(), form.bytes(), random))
                                    .limit(operands.length)
                                    .toList();
                    Bits.assertSame(
                            engine.run(inputs), run(model, inputs, engine.shapes()), operator);
                }
            }
        }
    }

    @Test
    void arena_builtNetworks_isNeverAboveTheEngines() throws Exception {
        assertTrue(ofTheEngines(TestModels.built()) < 1);
    }

    @Test
    void arena_quantizedNetworks_isNeverAboveTheEngines() throws Exception {
        List<Path> models =
                Stream.of("mobilenet_v1_int8_64", "mobilenet_v2_int8_64", "mobilenet_v2_dynamic_64")
                        .map(TestModels::built)
                        .toList();
        assertTrue(ofTheEngines(models) <= 1);
    }

    @Tag("long")
    @NeedsModels(RealModels.TFLITE)
    @Test
    void arena_realModels_isNeverAboveTheEngines() throws Exception {
        assertTrue(ofTheEngines(TestModels.real()) < 1);
    }

    /**
     * Returns the geometric mean of models' memory relative to the engine's own arena, including
     * inputs and outputs. The engine also lets some operators write in place.
     */
    private static double ofTheEngines(List<Path> models) throws Exception {
        double product = 1;
        for (Path file : models) {
            try (ServedModel model = Served.alone(file, InPlace.TRUE, 1)) {
                PlanReport.Plan plan = model.report().plan();
                double ratio =
                        (double) (plan.arenaBytes() + plan.inputOutputBytes())
                                / EngineView.of(file, 1).arenaBytes();
                assertTrue(ratio <= MOST_OF_THE_ENGINE, file + ": " + ratio);
                product *= ratio;
            }
        }
        return Math.pow(product, 1.0 / models.size());
    }

    @Test
    @Tag("long")
    void delegated_transientBuffers_takesLessMemoryForTheSameOutputs() throws Exception {
        Path file = TestModels.built("large_images");
        List<String> kept = weighed(file, Delegates.XNNPACK);
        List<String> built = weighed(file, Delegates.XNNPACK_TRANSIENT);
        assertEquals(kept.subList(0, 2), built.subList(0, 2));
        long keptBytes = Long.parseLong(kept.get(2));
        long builtBytes = Long.parseLong(built.get(2));
        assertTrue(builtBytes + BUFFERS_BYTES < keptBytes, builtBytes + " of " + keptBytes);
    }

    /** Runs in a separate JVM, whose whole heap is in memory from the start. */
    private List<String> weighed(Path file, String delegate) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
                        .run(DelegateMemoryProgram.class, file.toString(), delegate);
        List<String> lines = result.out().lines().toList();
        assertEquals(0, result.exitCode(), result.printed());
        return lines.subList(lines.size() - 3, lines.size());
    }

    private static List<ByteBuffer> run(
            ServedModel model, List<ByteBuffer> inputs, List<List<Integer>> shapes) {
        List<ByteBuffer> outputs = new ArrayList<>();
        for (OutputTensor output : model.run(inputs, shapes)) {
            outputs.add(output.data());
        }
        return outputs;
    }
}
