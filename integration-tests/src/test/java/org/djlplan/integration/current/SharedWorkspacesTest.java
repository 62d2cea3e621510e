package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.WorkspaceMetric;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests XNNPACK workspaces of several models on the same pages. */
@Tag("djl-current")
@Timeout(300)
class SharedWorkspacesTest {

    private static final int RUNS = 5;
    private static final int RUNS_AT_ONCE = 200;
    private static final int LOADS = 100;
    private static final byte POISON = (byte) 0xff;

    /**
     * Number of inferences per move of a workspace, at least, of models that always run at once.
     */
    private static final int RUNS_FOR_A_MOVE = 10;

    private static final String TRANSIENT = Delegates.XNNPACK_TRANSIENT;

    private static final List<String> SMALL = List.of("blaze_face", "chains", "uneven");

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() throws Exception {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        assertEquals(0, metric().files());
        assertEquals(List.of(), pages());
    }

    private static WorkspaceMetric metric() {
        return WorkspacePool.shared().metric();
    }

    /** Returns the files in memory that this process has open for workspaces. */
    private static List<Path> pages() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            for (Path file : open.toList()) {
                if (Files.isSymbolicLink(file)
                        && Files.readSymbolicLink(file).toString().startsWith("/memfd:djl-plan")) {
                    found.add(file);
                }
            }
        }
        return found;
    }

    /** Returns the size of these files. */
    private static long pagesBytes() throws IOException {
        long bytes = 0;
        for (Path file : pages()) {
            bytes += Files.size(file);
        }
        return bytes;
    }

    private static void poison() throws IOException {
        for (Path file : pages()) {
            try (RandomAccessFile pages = new RandomAccessFile(file.toFile(), "rw")) {
                byte[] bytes = new byte[(int) pages.length()];
                Arrays.fill(bytes, POISON);
                pages.write(bytes);
            }
        }
    }

    private static List<ByteBuffer> run(ServedModel model, List<ByteBuffer> inputs) {
        List<List<Integer>> shapes = model.inputs().stream().map(input -> input.shape()).toList();
        return model.run(inputs, shapes).stream().map(OutputTensor::data).toList();
    }

    /** A model that shares its workspace, and its outputs without sharing. */
    private record Expected(
            ServedModel model, List<List<ByteBuffer>> inputs, List<List<ByteBuffer>> outputs)
            implements AutoCloseable {

        static Expected of(Path file, String delegate, int threads) throws Exception {
            Delegated delegated = Delegated.all(file, delegate, threads);
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<List<ByteBuffer>> outputs = new ArrayList<>();
            try (StockInterpreter engine = new StockInterpreter(file, 1);
                    ServedModel alone = delegated.open(false)) {
                for (int i = 0; i < RUNS; i++) {
                    inputs.add(engine.randomInputs(i));
                    outputs.add(run(alone, inputs.get(i)));
                }
            }
            return new Expected(delegated.open(true), inputs, outputs);
        }

        void check(int run) {
            int i = run % RUNS;
            Bits.assertSame(
                    outputs.get(i), SharedWorkspacesTest.run(model, inputs.get(i)), "run " + run);
        }

        @Override
        public void close() {
            model.close();
        }
    }

    /** Several models that share a workspace. */
    private record Group(List<Expected> models) implements AutoCloseable {

        static Group of(List<String> names, String delegate) throws Exception {
            Group group = new Group(new ArrayList<>());
            for (String name : names) {
                group.models.add(Expected.of(TestModels.built(name), delegate, 1));
            }
            return group;
        }

        /** Runs each model on a thread of its own, repeatedly. */
        void runAtOnce() throws Exception {
            Threads.all(
                    models.size(),
                    thread -> {
                        for (int run = 0; run < RUNS_AT_ONCE; run++) {
                            models.get(thread).check(run);
                        }
                        return true;
                    });
        }

        @Override
        public void close() {
            models.forEach(Expected::close);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "blaze_face, xnnpack, 1",
        "blaze_face, xnnpack-transient, 2",
        "uneven, xnnpack, 1",
        "mobilenet_v2_int8_64, xnnpack, 1",
        "mobilenet_v2_int8_64, xnnpack-transient, 1"
    })
    void run_poisonedPages_givesTheBytesOfAnUnsharedOne(String name, String delegate, int threads)
            throws Exception {
        assertHoldsNothing(TestModels.built(name), delegate, threads);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("built")
    void run_builtNetwork_givesTheBytesOfAnUnsharedOne(Path file, String delegate, int threads)
            throws Exception {
        assertHoldsNothing(file, delegate, threads);
    }

    @Tag("long")
    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @MethodSource("real")
    void run_realModel_givesTheBytesOfAnUnsharedOne(Path file, String delegate, int threads)
            throws Exception {
        assertHoldsNothing(file, delegate, threads);
    }

    static Stream<Arguments> built() {
        return everyWay(
                Stream.concat(
                                TestModels.built().stream(),
                                Stream.of("mobilenet_v2_int8", "mobilenet_v2_dynamic", "uneven_9")
                                        .map(TestModels::built))
                        .toList());
    }

    static Stream<Arguments> real() {
        return everyWay(TestModels.real());
    }

    private static Stream<Arguments> everyWay(List<Path> files) {
        return files.stream()
                .flatMap(
                        file ->
                                Stream.of(Delegates.XNNPACK, TRANSIENT)
                                        .flatMap(
                                                delegate ->
                                                        Stream.of(1, 2)
                                                                .map(
                                                                        threads ->
                                                                                Arguments.of(
                                                                                        file,
                                                                                        delegate,
                                                                                        threads))));
    }

    private static void assertHoldsNothing(Path file, String delegate, int threads)
            throws Exception {
        try (Expected model = Expected.of(file, delegate, threads)) {
            assertEquals(1, metric().workspaces());
            assertEquals(metric().workspaceBytes(), metric().bytes());
            for (int run = 0; run < 2 * RUNS; run++) {
                poison();
                model.check(run);
            }
        }
    }

    @Test
    void run_modelsInTurn_lieOnThePagesOfTheLargest() throws Exception {
        long movesBefore = metric().moves();
        try (Group group = Group.of(SMALL, Delegates.XNNPACK)) {
            assertEquals(SMALL.size(), metric().workspaces());
            for (int run = 0; run < RUNS; run++) {
                for (Expected model : group.models()) {
                    model.check(run);
                }
            }
            assertEquals(1, metric().files());
            assertEquals(movesBefore, metric().moves());
            assertTrue(metric().bytes() < metric().workspaceBytes());
            assertEquals(metric().bytes(), pagesBytes());
        }
    }

    @Test
    void close_oneWorkspace_freesPagesBeyondTheOthers() throws Exception {
        try (Group group = Group.of(SMALL, Delegates.XNNPACK)) {
            for (Expected model : group.models()) {
                long before = metric().workspaceBytes();
                model.close();
                assertTrue(metric().workspaceBytes() < before);
                assertTrue(metric().bytes() <= metric().workspaceBytes());
                assertEquals(metric().bytes(), pagesBytes());
            }
        }
    }

    @Test
    void run_modelsAtOnce_givesTheirBytesAndSettles() throws Exception {
        long movesBefore = metric().moves();
        try (Group group = Group.of(SMALL, Delegates.XNNPACK)) {
            group.runAtOnce();
            WorkspaceMetric after = metric();
            assertEquals(0, after.taken());
            assertTrue(after.files() <= SMALL.size(), after::toString);
            assertTrue(after.bytes() <= after.workspaceBytes(), after::toString);
            long runs = (long) SMALL.size() * RUNS_AT_ONCE;
            assertTrue(after.moves() - movesBefore <= runs / RUNS_FOR_A_MOVE, after::toString);
        }
    }

    /** Each thread has its own interpreter, and so its own workspace. */
    @Test
    void run_oneModelAtOnce_givesItsBytes() throws Exception {
        try (Expected model = Expected.of(TestModels.built("blaze_face"), TRANSIENT, 1)) {
            new Group(List.of(model, model)).runAtOnce();
        }
    }

    @Test
    @Tag("long")
    void close_manyTimes_leavesNothing() throws Exception {
        Delegated delegated = Delegated.all(TestModels.built("blaze_face"), Delegates.XNNPACK, 1);
        try (Expected other = Expected.of(TestModels.built("uneven"), Delegates.XNNPACK, 1)) {
            long bytes = metric().bytes();
            for (int i = 0; i < LOADS; i++) {
                try (ServedModel model = delegated.open(true)) {
                    assertTrue(model.report().planned());
                    assertEquals(2, metric().workspaces());
                    assertEquals(1, pages().size());
                    other.check(i);
                }
                assertEquals(bytes, metric().bytes());
            }
        }
    }

    @Test
    void open_optedOut_sharesNothing() throws Exception {
        Delegated delegated = Delegated.all(TestModels.built("blaze_face"), Delegates.XNNPACK, 1);
        try (ServedModel model = delegated.open(false)) {
            assertTrue(model.report().delegation().orElseThrow().delegatedOperators() > 0);
            assertEquals(0, metric().workspaces());
        }
    }

    @Test
    void open_xnnpackWasUsedBefore_sharesNothingWithOneWarning() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder).run(SharedWorkspacesProgram.class, small(), "before");
        assertEquals(0, result.exitCode(), result::printed);
        assertEquals(1, result.warnings().size(), result::printed);
        assertTrue(result.warnings().get(0).contains("before djl-plan"), result::printed);
    }

    @Test
    void open_offForTheProcess_sharesNothingSilently() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Ddjlplan.internal.sharedWorkspaces=false")
                        .run(SharedWorkspacesProgram.class, small(), "not before");
        assertEquals(0, result.exitCode(), result::printed);
        assertEquals(List.of(), result.warnings());
    }

    private static String small() {
        return TestModels.built("blaze_face").toString();
    }
}
