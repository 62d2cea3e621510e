package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.networks.FullyConvolutional;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.WorkspaceMetric;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests XNNPACK at input shapes other than the file's, from TensorFlow Lite 2.20 on. */
@Tag("djl-current")
@Timeout(200)
class DelegatedShapesTest {

    private static final float NEAR = 1e-4f;

    private static final ShapeMix MIX =
            new ShapeMix(
                    List.of(
                            List.of(List.of(1, 16, 48, 3)),
                            List.of(List.of(1, 64, 32, 3)),
                            List.of(List.of(1, 96, 96, 3))),
                    1);

    @TempDir static Path folder;

    private static Path network(String name) throws Exception {
        return network(name, 32);
    }

    private static Path network(String name, int size) throws Exception {
        Path file = folder.resolve(name + ".tflite");
        TfLiteWriter.write(FullyConvolutional.build(16, size), file);
        return file;
    }

    private static DelegationChoice everything(Path file) throws Exception {
        return new DelegationChoice(
                new Candidate(FixedChoice.operators(file, Delegates.XNNPACK), 1),
                Origin.MEASURED,
                "a test");
    }

    /** Predicts, and returns the difference from the CPU kernels' outputs. */
    private static float difference(ServedModel served, Path file, int height, int width)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            stock.resize(1, height, width, 3);
            List<ByteBuffer> values = stock.randomInputs(height);
            List<OutputTensor> outputs = served.run(values, stock.shapes());
            return difference(outputs.get(0).data(), stock.run(values).get(0));
        }
    }

    private static float difference(ByteBuffer one, ByteBuffer other) {
        ByteBuffer x = one.duplicate().order(ByteOrder.nativeOrder());
        ByteBuffer y = other.duplicate().order(ByteOrder.nativeOrder());
        assertEquals(x.remaining(), y.remaining());
        float most = 0;
        while (x.hasRemaining()) {
            most = Math.max(most, Math.abs(x.getFloat() - y.getFloat()));
        }
        return most;
    }

    @Test
    void run_shapesThatAreEnclosed_areDelegatedAndOthersAreNot() throws Exception {
        Path file = network("enclosed");
        AtomicInteger made = new AtomicInteger();
        try (ServedModel served = Served.open(file, counting(made), everything(file))) {
            int before = made.get();
            assertEquals(0, difference(served, file, 48, 48));
            assertEquals(before, made.get());
            served.useAt(MIX, everything(file));
            for (int height = 24; height <= 96; height += 8) {
                for (int width = 32; width <= 96; width += 16) {
                    assertTrue(difference(served, file, height, width) <= NEAR);
                }
            }
            int after = made.get();
            assertEquals(before + 1, after);
            assertEquals(0, difference(served, file, 104, 96));
            assertEquals(0, difference(served, file, 16, 24));
            assertEquals(after, made.get());
            assertTrue(
                    served.report()
                            .delegation()
                            .orElseThrow()
                            .otherShapes()
                            .contains("operators delegated"));
        }
    }

    /** XNNPACK replaces a workspace by a larger one, which takes long and would delay a request. */
    @Test
    void useAt_beforeAnyPrediction_readiesAnInterpreterForTheLargestShapes() throws Exception {
        Path file = network("ready");
        AtomicInteger made = new AtomicInteger();
        DelegationChoice choice = everything(file);
        try (ServedModel served = Served.openForOtherShapes(file, counting(made), choice)) {
            served.useAt(MIX, choice);
            assertEquals(1, made.get());
            assertEquals(0, served.report().predictions().total());
            WorkspaceMetric before = WorkspacePool.shared().metric();
            for (int size = 48; size <= 96; size += 16) {
                assertTrue(difference(served, file, size, size) <= NEAR);
            }
            assertEquals(1, made.get());
            assertEquals(before.workspaceBytes(), WorkspacePool.shared().metric().workspaceBytes());
        }
    }

    /** Shapes that had interpreters of the CPU kernels get the prepared one. */
    @Test
    void useAt_afterPredictions_theirShapesTakeTheReadiedInterpreter() throws Exception {
        Path file = network("after");
        AtomicInteger made = new AtomicInteger();
        DelegationChoice choice = everything(file);
        try (ServedModel served = Served.openForOtherShapes(file, counting(made), choice)) {
            assertEquals(0, difference(served, file, 48, 48));
            assertEquals(0, difference(served, file, 64, 64));
            served.useAt(MIX, choice);
            assertTrue(difference(served, file, 48, 48) <= NEAR);
            assertEquals(1, made.get());
        }
    }

    /** Shapes that recur have their own interpreters, none of which needs more memory later. */
    @Test
    void run_fewShapesInTurn_eachInterpreterHasHadTheLargest() throws Exception {
        Path file = network("recent");
        DelegationChoice choice = everything(file);
        WorkspaceMetric before = WorkspacePool.shared().metric();
        try (ServedModel served =
                Served.openForOtherShapes(file, Delegates.named(Delegates.XNNPACK), choice)) {
            served.useAt(MIX, choice);
            WorkspaceMetric one = WorkspacePool.shared().metric();
            assertEquals(before.workspaces() + 1, one.workspaces());
            long bytes = one.workspaceBytes() - before.workspaceBytes();
            for (int i = 0; i < 9; i++) {
                int size = 48 + 16 * (i % 3);
                assertTrue(difference(served, file, size, size) <= NEAR);
            }
            WorkspaceMetric all = WorkspacePool.shared().metric();
            int made = all.workspaces() - before.workspaces();
            assertTrue(made > 1);
            assertEquals(before.workspaceBytes() + made * bytes, all.workspaceBytes());
            assertEquals(one.bytes(), all.bytes());
        }
    }

    /** If a service waits until the model is settled, no prediction runs beside this work. */
    @Test
    void isSettled_whileAnInterpreterIsReadied_isFalse() throws Exception {
        Path file = network("unsettled");
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        DelegateFactory slow =
                threads -> {
                    asked.countDown();
                    Uninterruptibles.awaitUninterruptibly(answers);
                    return Delegates.named(Delegates.XNNPACK).create(threads);
                };
        DelegationChoice choice = everything(file);
        try (ServedModel served = Served.openForOtherShapes(file, slow, choice)) {
            FutureTask<Boolean> use =
                    new FutureTask<>(
                            () -> {
                                served.useAt(MIX, choice);
                                return true;
                            });
            new Thread(use).start();
            asked.await();
            try {
                assertFalse(served.isSettled());
            } finally {
                answers.countDown();
            }
            assertTrue(use.get());
            assertTrue(served.isSettled());
        }
    }

    @Test
    void useAt_modelIsClosed_buildsNothing() throws Exception {
        Path file = network("closed");
        AtomicInteger made = new AtomicInteger();
        ServedModel served = Served.openForOtherShapes(file, counting(made), everything(file));
        served.close();
        served.useAt(MIX, everything(file));
        assertEquals(0, made.get());
    }

    private static DelegateFactory counting(AtomicInteger made) {
        return threads -> {
            made.incrementAndGet();
            return Delegates.named(Delegates.XNNPACK).create(threads);
        };
    }

    private static int partitions(ServedModel served) {
        return served.report().delegation().orElseThrow().partitions();
    }

    @Test
    void open_otherShapesExpected_delegatesShapesInFileWithTheirFirstPrediction() throws Exception {
        Path file = network("deferred");
        AtomicInteger made = new AtomicInteger();
        DelegationChoice choice = everything(file);
        try (ServedModel served = Served.openForOtherShapes(file, counting(made), choice)) {
            assertEquals(0, made.get());
            served.useAt(MIX, choice);
            assertTrue(difference(served, file, 48, 48) <= NEAR);
            assertEquals(1, made.get());
            assertEquals(0, partitions(served));
            assertTrue(difference(served, file, 32, 32) <= NEAR);
            assertEquals(2, made.get());
            assertEquals(1, partitions(served));
        }
    }

    @Test
    void switchTo_otherShapesExpected_buildsAheadOnlyIfShapesInFileWerePredicted()
            throws Exception {
        Path file = network("switched");
        DelegationChoice cpu = new DelegationChoice(Candidate.cpu(1), Origin.UNVERIFIED, "a test");
        for (int size : new int[] {48, 32}) {
            AtomicInteger made = new AtomicInteger();
            try (ServedModel served = Served.openForOtherShapes(file, counting(made), cpu)) {
                assertEquals(0, difference(served, file, size, size));
                served.switchTo(everything(file));
                assertEquals(size == 32 ? 1 : 0, made.get());
                assertTrue(difference(served, file, 32, 32) <= NEAR);
                assertEquals(1, made.get());
            }
        }
    }

    /** Even after XNNPACK has replaced a workspace by a larger one. */
    @Test
    void run_interpretersOfOtherShapesInTurn_haveTheirWorkspacesOnTheSamePages() throws Exception {
        Path file = network("turns", 512);
        Candidate candidate = everything(file).candidate();
        try (OpenModel model = OpenModel.of(file)) {
            InterpreterFactory shared = factory(model, true);
            InterpreterFactory alone = factory(model, false);
            WorkspaceMetric before = WorkspacePool.shared().metric();
            try (ModelInterpreter one = shared.build(square(128), candidate, false);
                    ModelInterpreter other = shared.build(square(192), candidate, false);
                    ModelInterpreter reference = alone.build(square(128), candidate, false)) {
                for (int size : new int[] {128, 256, 64, 384}) {
                    shared.reshape(one, square(size));
                    assertSameAnswer(one, reference, alone, size);
                    assertSameAnswer(other, reference, alone, 192);
                    WorkspaceMetric now = WorkspacePool.shared().metric();
                    assertEquals(before.workspaces() + 2, now.workspaces());
                    assertEquals(1, now.files());
                    assertTrue(now.bytes() < now.workspaceBytes(), now.toString());
                }
            }
            assertEquals(before.workspaces(), WorkspacePool.shared().metric().workspaces());
        }
    }

    private static List<List<Integer>> square(int size) {
        return List.of(List.of(1, size, size, 3));
    }

    private static void assertSameAnswer(
            ModelInterpreter one, ModelInterpreter reference, InterpreterFactory alone, int size)
            throws Exception {
        alone.reshape(reference, square(size));
        ByteBuffer input = ByteBuffer.allocateDirect(12 * size * size);
        input.order(ByteOrder.nativeOrder());
        for (int i = 0; input.hasRemaining(); i++) {
            input.putFloat(i % 255 / 255f);
        }
        one.keepArena();
        reference.keepArena();
        assertEquals(
                reference.run(List.of(input.rewind())).get(0).data(),
                one.run(List.of(input.rewind())).get(0).data());
    }

    /** XNNPACK plans at least for the shapes that it saw when it took the operators. */
    @Test
    void build_shapesSmallerThanInFile_workspaceIsPlannedForThem() throws Exception {
        Path file = network("large", 512);
        Candidate candidate = everything(file).candidate();
        try (OpenModel model = OpenModel.of(file)) {
            InterpreterFactory factory = factory(model, false);
            List<List<Integer>> shapes = List.of(List.of(1, 128, 128, 3));
            try (ModelInterpreter inFile = factory.build(factory.shapesInFile(), candidate, false);
                    ModelInterpreter small = factory.build(shapes, candidate, false)) {
                assertEquals(inFile.nodes().size(), small.nodes().size());
                assertTrue(small.heldBytes() > 0);
                assertTrue(
                        8 * small.heldBytes() < inFile.heldBytes(),
                        small.heldBytes() + " of " + inFile.heldBytes());
                long before = small.heldBytes();
                factory.reshape(small, List.of(List.of(1, 256, 256, 3)));
                assertTrue(small.heldBytes() > 2 * before);
            }
        }
    }

    @Test
    void build_otherShapes_weightsArePackedOnce() throws Exception {
        Path file = network("packed");
        Candidate candidate = everything(file).candidate();
        try (OpenModel model = OpenModel.of(file)) {
            InterpreterFactory factory = factory(model, true);
            long before = Delegates.packedWeightsBytes();
            try (ModelInterpreter other =
                    factory.build(List.of(List.of(1, 64, 48, 3)), candidate, false)) {
                assertTrue(other.planned());
                long packed = Delegates.packedWeightsBytes();
                assertTrue(packed > before);
                try (ModelInterpreter another =
                        factory.build(factory.shapesInFile(), candidate, false)) {
                    assertTrue(another.planned());
                    assertEquals(packed, Delegates.packedWeightsBytes());
                }
            }
            assertEquals(before, Delegates.packedWeightsBytes());
        }
    }

    private static InterpreterFactory factory(OpenModel model, boolean shares) {
        return new InterpreterFactory(
                model.sessions(),
                model.graph(),
                MemoryPlanner::plan,
                Delegates.named(Delegates.XNNPACK),
                new ArenaPool(),
                shares);
    }

    @Test
    void run_delegateRefusesOtherShapes_runsInCpuKernels() throws Exception {
        Path file = network("refused");
        AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
        DelegateFactory failing =
                threads -> {
                    if (left.getAndDecrement() <= 0) {
                        throw new IllegalStateException("no more");
                    }
                    return Delegates.named(Delegates.XNNPACK).create(threads);
                };
        try (ServedModel served = Served.open(file, failing, everything(file))) {
            left.set(0);
            served.useAt(MIX, everything(file));
            assertEquals(0, difference(served, file, 48, 48));
            left.set(Integer.MAX_VALUE);
            assertEquals(0, difference(served, file, 48, 48));
            assertTrue(difference(served, file, 64, 64) <= NEAR);
        }
    }

    @Test
    @Tag("long")
    void predict_manyShapes_areMeasuredInTheBackground() throws Exception {
        Path file = network("measured");
        try (ZooModel<NDList, NDList> model =
                Planned.loadDirectly(
                        file,
                        Map.of(
                                "memplan.threads",
                                1,
                                "delegation.profile",
                                "background",
                                "delegation.enabled",
                                "every-shape"))) {
            try (StockInterpreter stock = new StockInterpreter(file, 1)) {
                int[] number = {0};
                Await.until(
                        () -> {
                            int size = 64 + 16 * (number[0]++ % 9);
                            stock.resize(1, size, size, 3);
                            List<ByteBuffer> values = stock.randomInputs(size);
                            ByteBuffer output =
                                    Planned.predict(model, values, stock.shapes()).get(0);
                            assertTrue(difference(output, stock.run(values).get(0)) <= NEAR);
                            return !otherShapes(model).isEmpty();
                        });
            }
            assertTrue(otherShapes(model).contains("measured at"), otherShapes(model));
        }
    }

    private static String otherShapes(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow().otherShapes();
    }
}
