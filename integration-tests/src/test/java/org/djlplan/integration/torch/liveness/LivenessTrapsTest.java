package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.translate.TranslateException;
import ai.djl.util.NativeResource;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests what users' blocks do with arrays: with {@code memplan.liveness=op} as in DJL. */
@OnEveryDjlWhenLong
class LivenessTrapsTest {

    private static final int PREDICTIONS = 6;
    private static final Shape SHAPE = new Shape(2, 4096);

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    private static List<BlockAnswers.Inputs> inputs(Shape shape) {
        return IntStream.range(0, PREDICTIONS)
                .<BlockAnswers.Inputs>mapToObj(
                        call ->
                                manager ->
                                        new NDList(
                                                manager.arange(0f, (float) shape.size(), 1f)
                                                        .mul(call + 1)
                                                        .sin()
                                                        .reshape(shape)))
                .toList();
    }

    private static PlanReport assertAsStock(Supplier<Block> block, Shape shape) throws Exception {
        BlockAnswers stock = BlockAnswers.stock(block.get(), inputs(shape));
        BlockAnswers planned = BlockAnswers.planned(block.get(), BlockAnswers.OP, inputs(shape));
        assertEquals(stock.outputs(), planned.outputs());
        return planned.report().orElseThrow();
    }

    /** Returns blocks that do unusual things with arrays. */
    static Stream<CodeBlock.Code> traps() {
        return Stream.of(
                (self, store, inputs) -> {
                    // A view of an array over a buffer of the JVM.
                    NDManager manager = inputs.getManager();
                    NDArray view = manager.create(new float[1 << 20]).addi(3).reshape(1, -1);
                    NDArray result = inputs.head();
                    for (int i = 0; i < 3; i++) {
                        result = result.mul(2).add(1);
                        System.gc();
                        manager.zeros(new Shape(1 << 18));
                    }
                    return new NDList(result.add(view.get(":, :4096")));
                },
                (self, store, inputs) -> {
                    // The input, the same output twice, and a view.
                    NDArray x = inputs.head();
                    NDArray y = x.mul(2).add(1);
                    return new NDList(x, y, y, y.mul(3).reshape(-1).get("1:5"));
                },
                (self, store, inputs) -> {
                    // Arrays that only an index holds.
                    NDArray x = inputs.head().mul(2);
                    NDArray positive = x.get(new NDIndex().addBooleanIndex(x.gt(0)));
                    NDArray rows = x.get(new NDIndex("{}", x.getManager().create(new long[] {1})));
                    NDArray pick = x.argSort(1).get(":, :2");
                    NDArray picked = x.get(new NDIndex(":").addPickDim(pick));
                    return new NDList(positive.mul(3).add(1), rows.mul(3).add(1), picked.mul(2));
                },
                (self, store, inputs) -> {
                    // An input that is changed in place, through a view.
                    NDArray x = inputs.head().mul(2).add(3);
                    inputs.head().reshape(-1).addi(1);
                    return new NDList(x.add(inputs.head()), inputs.head());
                },
                (self, store, inputs) -> {
                    // A cast to the engine's class.
                    NDArray x = inputs.head().mul(2).add(1);
                    boolean open = ((NativeResource<?>) x).getHandle() != null;
                    return new NDList(open ? x.add(1) : x);
                },
                (self, store, inputs) -> {
                    // Arguments and results that are no arrays, or hold arrays.
                    NDArray x = inputs.head().toDevice(Device.cpu(), true);
                    NDManager manager = x.getManager();
                    String[] text = manager.create("1").toStringArray(StandardCharsets.UTF_8);
                    ByteBuffer whole = x.mul(2).toByteBuffer();
                    NDArray copy = manager.create(whole, x.getShape(), x.getDataType());
                    int open = manager.getManagedArrays().isEmpty() ? 0 : 1;
                    float first = x.toArray()[0].floatValue() + Float.parseFloat(text[0]);
                    boolean same = manager.getEngine().getEngineName().equals("PyTorch");
                    NDList parts = x.getNDArrayInternal().getArray().split(2, 1);
                    return new NDList(copy.add(first).add(same ? open : 2), parts.get(1).mul(2));
                },
                (self, store, inputs) -> {
                    // A function in an operation that uses another array.
                    NDArray x = inputs.head().mul(2);
                    NDArray y = x.add(1);
                    y.set(new NDIndex("0"), part -> part.add(x.get(0)));
                    return new NDList(y.mul(2));
                },
                (self, store, inputs) -> {
                    // A manager below, whose array moves up, and scopes that arrays leave.
                    NDManager below = inputs.getManager().newSubManager();
                    NDArray x = inputs.head().mul(2);
                    NDArray y = x.add(1);
                    y.attach(below);
                    NDArray z = y.mul(3);
                    z.attach(inputs.getManager());
                    below.close();
                    NDScope.unregister(x);
                    NDArray kept;
                    try (NDScope scope = new NDScope()) {
                        scope.suppressNotUsedWarning();
                        kept = z.add(1).mul(2);
                        NDScope.unregister(kept);
                    }
                    return new NDList(kept.add(x));
                },
                (self, store, inputs) -> {
                    // Another thread.
                    NDArray x = inputs.head().mul(2);
                    NDArray y = CompletableFuture.supplyAsync(() -> x.add(1).mul(2)).join();
                    return new NDList(y.add(x));
                },
                (self, store, inputs) -> {
                    // A number of operations that depends on the content.
                    NDArray x = inputs.head().mul(2);
                    int count = inputs.head().sum().getFloat() > 0 ? 3 : 5;
                    for (int i = 0; i < count; i++) {
                        x = x.add(1);
                    }
                    return new NDList(x.reshape(-1).add(2));
                });
    }

    @ParameterizedTest
    @MethodSource("traps")
    void op_unusualBlock_answersAsStock(CodeBlock.Code code) throws Exception {
        PlanReport report = assertAsStock(() -> new CodeBlock(code), SHAPE);
        assertEquals(0, report.predictions().unplanned());
    }

    private static Block skipping() {
        NDList skip = new NDList();
        return new SequentialBlock()
                .addSingleton(x -> x.mul(1.5f).add(0.5f))
                .add(
                        new CodeBlock(
                                (self, store, inputs) -> {
                                    skip.clear();
                                    skip.addAll(inputs);
                                    return new NDList(inputs.head().add(1));
                                }))
                .addSingleton(x -> x.mul(1.5f).square())
                .add(
                        new CodeBlock(
                                (self, store, inputs) ->
                                        new NDList(inputs.head().add(skip.head()))));
    }

    @Test
    void op_skipConnectionThroughField_isClosed() throws Exception {
        PlanReport report = assertAsStock(LivenessTrapsTest::skipping, SHAPE);
        assertFalse(report.unclosedReason().isPresent());
    }

    private static Block lstms(NDManager manager) {
        ParallelBlock block =
                new ParallelBlock(
                        results ->
                                new NDList(
                                        results.get(0).head().add(results.get(1).head()),
                                        results.get(0).head()));
        for (int i = 0; i < 2; i++) {
            block.add(LSTM.builder().setStateSize(7).setNumLayers(1).optReturnState(false).build());
        }
        block.initialize(manager, DataType.FLOAT32, new Shape(2, 5, 6));
        return block;
    }

    @Test
    void op_parallelLstms_eachHasItsOwnInputs() throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Block block = lstms(manager);
            assertAsStock(() -> block, new Shape(2, 5, 6));
        }
    }

    @Test
    void op_arraysAttachedElsewhere_stayOpen() throws Exception {
        List<NDArray> attached = new ArrayList<>();
        // The list is not in the block, so only the manager shows the arrays' use.
        ThreadLocal<List<NDArray>> drop = ThreadLocal.withInitial(() -> attached);
        try (NDManager elsewhere = NDManager.newBaseManager("PyTorch")) {
            CodeBlock.Code code =
                    (self, store, inputs) -> {
                        NDArray x = inputs.head().mul(2);
                        NDArray moved = x.add(1);
                        moved.attach(elsewhere);
                        NDArray freed = x.add(2);
                        freed.detach();
                        drop.get().add(moved);
                        drop.get().add(freed);
                        return new NDList(x.mul(3).add(4));
                    };
            assertAsStock(() -> new CodeBlock(code), SHAPE);
            assertEquals(4 * PREDICTIONS, attached.size());
            for (int i = 0; i < attached.size(); i += 2) {
                float moved = attached.get(i).getFloat(0, 1);
                assertEquals(moved + 1, attached.get(i + 1).getFloat(0, 1));
                attached.get(i + 1).close();
            }
        }
    }

    @Test
    void op_throwingBlock_throwsTheSameAndGoesOn() throws Exception {
        CodeBlock.Code code =
                (self, store, inputs) -> {
                    if (inputs.head().getShape().get(0) > 2) {
                        throw new UnsupportedOperationException("too long");
                    }
                    return new NDList(inputs.head().mul(2).add(1));
                };
        CodeBlock block = new CodeBlock(code);
        TranslateException thrown =
                assertThrows(
                        TranslateException.class,
                        () ->
                                BlockAnswers.planned(
                                        block, BlockAnswers.OP, inputs(new Shape(3, 4096))));
        assertTrue(thrown.getCause() instanceof UnsupportedOperationException);
        assertFalse(assertAsStock(() -> block, SHAPE).unclosedReason().isPresent());
    }

    /** DJL's own blocks, of which all intermediates are outputs. */
    @Test
    void op_intermediatesReturned_stayOpen() throws Exception {
        Block inner = new SequentialBlock().add(Activation.reluBlock()).add(Activation.tanhBlock());
        Block block =
                new SequentialBlock()
                        .add(new SequentialBlock().add(inner).add(Activation.geluBlock()))
                        .add(Activation.sigmoidBlock())
                        .setReturnIntermediate(true);
        assertFalse(assertAsStock(() -> block, SHAPE).unclosedReason().isPresent());
        assertAsStock(() -> new SequentialBlock().add(block).add(outputs -> outputs), SHAPE);
    }

    /** Returns blocks that need an array longer if the input is negative. */
    static Stream<CodeBlock.Code> branches() {
        return Stream.of(
                (self, store, inputs) -> {
                    // In one branch the first array is used last, in the other the second one.
                    NDArray x = inputs.head();
                    NDArray a = x.mul(2);
                    NDArray b = x.mul(3);
                    boolean first = x.getFloat(0, 0) >= 0;
                    NDArray c = (first ? a.add(b) : b.sub(b)).add(1);
                    return new NDList(c.add(first ? a : b));
                },
                (self, store, inputs) -> {
                    // In one branch it is an output.
                    NDArray a = inputs.head().mul(2);
                    NDArray b = a.add(1).mul(2);
                    return new NDList(inputs.head().getFloat(0, 0) >= 0 ? b : a);
                });
    }

    @ParameterizedTest
    @MethodSource("branches")
    void op_branchOnContent_failsOnceAndThenAnswersAsStock(CodeBlock.Code code) {
        BlockAnswers.Inputs positive = manager -> new NDList(manager.ones(SHAPE));
        BlockAnswers.Inputs negative = manager -> new NDList(manager.ones(SHAPE).neg());
        List<BlockAnswers.Inputs> learning = List.of(positive, positive, positive, negative);
        TranslateException thrown =
                assertThrows(
                        TranslateException.class,
                        () -> BlockAnswers.planned(new CodeBlock(code), BlockAnswers.OP, learning));
        assertTrue(thrown.getMessage().contains("too early"), thrown.getMessage());
    }
}
