package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests interpreters of one model that run at once and share packed weights. */
@Tag("djl-current")
@Timeout(300)
class PackedWeightsTest {

    private static final int THREADS = 2;
    private static final int RUNS = 10;
    private static final int CHANGED_BYTES = 1 << 16;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() throws Exception {
        StockInterpreter.loadEngine();
    }

    @ParameterizedTest
    @CsvSource({
        "blaze_face, xnnpack",
        "uneven, xnnpack",
        "mobilenet_v2_int8_64, xnnpack-transient",
        "mobilenet_v1, xnnpack"
    })
    void run_atOnce_givesTheBytesOfItsOwnWeights(String name, String delegate) throws Exception {
        assertSame(TestModels.built(name), delegate);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("built")
    void run_builtNetworkAtOnce_givesTheBytesOfItsOwnWeights(Path file) throws Exception {
        assertSame(file, Delegates.XNNPACK);
    }

    @Tag("long")
    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @MethodSource("real")
    void run_realModelAtOnce_givesTheBytesOfItsOwnWeights(Path file) throws Exception {
        assertSame(file, Delegates.XNNPACK);
    }

    static Stream<Path> built() {
        return Stream.concat(
                TestModels.built().stream(),
                Stream.of("mobilenet_v2_int8", "mobilenet_v2_dynamic").map(TestModels::built));
    }

    static Stream<Path> real() {
        return TestModels.real().stream();
    }

    private static List<ByteBuffer> run(ServedModel model, List<ByteBuffer> inputs) {
        List<List<Integer>> shapes = model.inputs().stream().map(input -> input.shape()).toList();
        return model.run(inputs, shapes).stream().map(OutputTensor::data).toList();
    }

    private static void assertSame(Path file, String delegate) throws Exception {
        Delegated delegated = Delegated.all(file, delegate, 1);
        List<ByteBuffer> inputs;
        List<ByteBuffer> expected;
        try (StockInterpreter engine = new StockInterpreter(file, 1);
                ServedModel alone = delegated.open(false)) {
            inputs = engine.randomInputs(1);
            expected = run(alone, inputs);
        }
        try (ServedModel model = delegated.open(true)) {
            runAtOnce(model, inputs, outputs -> Bits.assertSame(expected, outputs, "at once"));
        }
    }

    /** Returns whether each thread has an interpreter. */
    private static boolean isWithInterpreters(ServedModel model) {
        return model.report().interpreters().size() == THREADS;
    }

    private static void runAtOnce(
            ServedModel model, List<ByteBuffer> inputs, Consumer<List<ByteBuffer>> check)
            throws Exception {
        Threads.all(
                THREADS,
                thread -> {
                    for (int run = 0; run < RUNS || !isWithInterpreters(model); run++) {
                        check.accept(
                                run(model, inputs.stream().map(ByteBuffer::duplicate).toList()));
                    }
                    return true;
                });
    }

    /**
     * XNNPACK itself would read from any address, because it does not check whether weights were
     * found.
     */
    @Test
    void interpreter_weightsChangedInPlace_packsItsOwn() throws Exception {
        Path file = Files.copy(TestModels.built("mobilenet_v1"), folder.resolve("changed.tflite"));
        Delegated delegated = Delegated.all(file, Delegates.XNNPACK, 1);
        try (StockInterpreter engine = new StockInterpreter(TestModels.built("mobilenet_v1"), 1);
                ServedModel model = delegated.open(true)) {
            List<ByteBuffer> inputs = engine.randomInputs(1);
            List<ByteBuffer> before = run(model, inputs);
            FileTime time = Files.getLastModifiedTime(file);
            Tensor largest =
                    model.graph().tensors().stream()
                            .filter(tensor -> tensor.region().isPresent())
                            .max(Comparator.comparingLong(Tensor::bytes))
                            .orElseThrow();
            try (RandomAccessFile weights = new RandomAccessFile(file.toFile(), "rw")) {
                weights.seek(largest.region().orElseThrow().offsetBytes());
                weights.write(new byte[CHANGED_BYTES]);
            }
            Files.setLastModifiedTime(file, time);
            Set<List<ByteBuffer>> outputs = ConcurrentHashMap.newKeySet();
            runAtOnce(model, inputs, outputs::add);
            // One interpreter has packed the weights as they were, the other as they are.
            assertEquals(2, outputs.size());
            assertTrue(outputs.contains(before));
        }
    }

    /** Such a failure has nothing to do with packed weights, so nothing is tried without them. */
    @Test
    void build_engineRefusesASession_triesItOnce() throws Exception {
        Path file = TestModels.built("blaze_face");
        Delegated delegated = Delegated.all(file, Delegates.XNNPACK, 1);
        AtomicInteger opened = new AtomicInteger();
        try (OpenModel model = OpenModel.of(file)) {
            EngineSession.Source engine = model.sessions();
            InterpreterFactory factory =
                    new InterpreterFactory(
                            spec -> {
                                if (opened.getAndIncrement() > 0) {
                                    throw new UnplannableException("a test");
                                }
                                return engine.open(spec);
                            },
                            model.graph(),
                            Served.planner(),
                            Delegates.named(Delegates.XNNPACK),
                            ArenaPool.shared(),
                            true);
            List<List<Integer>> shapes = factory.shapesInFile();
            long before = Delegates.packedWeightsBytes();
            ModelInterpreter first = factory.build(shapes, delegated.candidate(), false);
            assertTrue(Delegates.packedWeightsBytes() > before);

            assertThrows(
                    UnplannableException.class,
                    () -> factory.build(shapes, delegated.candidate(), false));

            assertEquals(2, opened.get());
            first.close();
        }
    }

    @Test
    void pools_tellPackedWeights_onceForAllInterpretersUntilTheModelIsClosed() throws Exception {
        Path file = TestModels.built("mobilenet_v1");
        Delegated delegated = Delegated.all(file, Delegates.XNNPACK, 1);
        long before = PlannedModels.pools().packedWeightsBytes();
        try (StockInterpreter engine = new StockInterpreter(file, 1);
                ServedModel model = delegated.open(true)) {
            List<ByteBuffer> inputs = engine.randomInputs(1);
            List<ByteBuffer> expected = run(model, inputs);
            long packed = PlannedModels.pools().packedWeightsBytes() - before;
            // Nearly all of the file is weights, and XNNPACK pads them.
            assertTrue(packed > .9 * Files.size(file), packed + " bytes");
            assertTrue(packed < 1.3 * Files.size(file), packed + " bytes");
            runAtOnce(model, inputs, outputs -> Bits.assertSame(expected, outputs, "at once"));
            assertEquals(packed, PlannedModels.pools().packedWeightsBytes() - before);
        }
        assertEquals(before, PlannedModels.pools().packedWeightsBytes());
    }
}
