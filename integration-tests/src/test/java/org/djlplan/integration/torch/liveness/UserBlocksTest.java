package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.ParameterStore;
import ai.djl.translate.TranslateException;
import ai.djl.util.NativeResource;
import ai.djl.util.PairList;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that users' blocks with side effects answer as in DJL, and that each prediction runs them
 * once.
 */
@OnEveryDjlWhenLong
class UserBlocksTest {

    private static final String LIVENESS = "memplan.liveness";
    private static final int PREDICTIONS = 8;

    @TempDir Path folder;

    private Runnable resetCache;

    @BeforeEach
    void oneThreadAndNoPlans() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder);
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    /** A block whose outputs depend on a number, and from the fourth call on on another array. */
    private static final class Affected extends AbstractBlock {

        private final SideEffects.Effect effect;

        Affected(SideEffects.Effect effect) {
            this.effect = effect;
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(pass(inputs.head(), effect.next()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    private static NDArray pass(NDArray x, long number) {
        NDArray first = x.mul(number);
        NDArray second = first.add(1);
        NDArray third = second.mul(2);
        return third.add(number >= 4 ? first : third);
    }

    /** Returns the inputs of several predictions, of which one has another shape. */
    private static List<BlockAnswers.Inputs> inputs() {
        return IntStream.range(0, PREDICTIONS)
                .<BlockAnswers.Inputs>mapToObj(
                        call ->
                                manager ->
                                        new NDList(
                                                manager.full(
                                                        new Shape(call == 5 ? 5 : 3), call + 1f)))
                .toList();
    }

    private static PlanReport report(Block block, Map<String, ?> options) throws Exception {
        return BlockAnswers.planned(block, options, inputs()).report().orElseThrow();
    }

    /** Asserts that a block runs once per prediction and answers as in DJL; returns the report. */
    private static PlanReport assertSameAsStock(SideEffects kind, Map<String, ?> options)
            throws Exception {
        long number = 0;
        SideEffects.Effect reference = kind.get();
        for (int call = 0; call <= PREDICTIONS; call++) {
            number = reference.next();
        }
        BlockAnswers stock = BlockAnswers.stock(new Affected(kind.get()), inputs());
        SideEffects.Effect effect = kind.get();
        BlockAnswers planned = BlockAnswers.planned(new Affected(effect), options, inputs());
        assertEquals(stock.outputs(), planned.outputs());
        assertEquals(number, effect.next());
        return planned.report().orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(SideEffects.class)
    void auto_blockWithSideEffect_runsOnceAndAnswersAsStock(SideEffects kind) throws Exception {
        PlanReport report = assertSameAsStock(kind, Map.of());
        assertEquals(
                Affected.class.getName()
                        + " is not one of DJL's own classes; memplan.liveness=op closes them after"
                        + " their last use",
                report.unclosedReason().orElseThrow());
    }

    static Stream<SideEffects> inFields() {
        return Stream.of(SideEffects.values()).filter(SideEffects::isInFields);
    }

    @ParameterizedTest
    @MethodSource("inFields")
    void op_blockWithState_runsOnceAndAnswersAsStock(SideEffects kind) throws Exception {
        PlanReport report = assertSameAsStock(kind, BlockAnswers.OP);
        assertTrue(report.unclosedReason().isPresent());
    }

    /** Returns blocks that keep arrays. */
    static List<CodeBlock.Code> keepingArrays() {
        return List.of(
                (self, store, inputs) -> {
                    // A cache that grows.
                    NDArray x = inputs.head().mul(2).add(1);
                    NDArray all = self.kept.isEmpty() ? x : self.kept.head().concat(x);
                    all.attach(store.getManager());
                    self.kept.close();
                    self.kept = new NDList(all);
                    return new NDList(x.mul(2).add(all.sum()));
                },
                (self, store, inputs) -> {
                    // A mask for the last shape.
                    NDArray x = inputs.head();
                    if (self.kept.isEmpty() || !self.kept.head().getShape().equals(x.getShape())) {
                        NDArray mask = x.onesLike().mul(3);
                        mask.attach(store.getManager());
                        self.kept = new NDList(mask);
                    }
                    return new NDList(x.mul(2).add(1).mul(self.kept.head()));
                },
                (self, store, inputs) -> {
                    // A sum in place.
                    NDArray x = inputs.head().sum();
                    if (self.kept.isEmpty()) {
                        NDArray sum = x.zerosLike();
                        sum.attach(store.getManager());
                        self.kept.add(sum);
                    }
                    self.kept.head().addi(x);
                    return new NDList(inputs.head().mul(2).add(1).mul(self.kept.head()));
                },
                (self, store, inputs) -> {
                    // A counter, and a cast to the engine's class.
                    self.calls++;
                    NDArray x = inputs.head().mul(self.calls);
                    boolean open = ((NativeResource<?>) x).getHandle() != null;
                    return new NDList(open ? x.add(1).mul(2) : x);
                });
    }

    @ParameterizedTest
    @MethodSource("keepingArrays")
    void op_blockThatKeepsArrays_answersAsStock(CodeBlock.Code code) throws Exception {
        assertEquals(
                BlockAnswers.stock(new CodeBlock(code), inputs()).outputs(),
                BlockAnswers.planned(new CodeBlock(code), BlockAnswers.OP, inputs()).outputs());
    }

    /**
     * Returns the inputs of several predictions.
     *
     * @param change is made to the block before the fourth one
     */
    private static List<BlockAnswers.Inputs> inputsWith(Runnable change) {
        return IntStream.range(0, PREDICTIONS)
                .<BlockAnswers.Inputs>mapToObj(
                        call ->
                                manager -> {
                                    if (call == 3) {
                                        change.run();
                                    }
                                    return new NDList(manager.full(new Shape(3), call + 1f));
                                })
                .toList();
    }

    /** From then on, the block needs an array longer than in the recorded pass. */
    @Test
    void op_switchThatTheApplicationSets_answersAsStock() throws Exception {
        CodeBlock.Code code =
                (self, store, inputs) -> {
                    NDArray x = inputs.head().mul(2);
                    NDArray y = x.add(1).mul(3).add(2);
                    return new NDList(self.field.isPresent() ? y.add(x) : y);
                };
        CodeBlock stock = new CodeBlock(code);
        CodeBlock planned = new CodeBlock(code);
        BlockAnswers answers =
                BlockAnswers.planned(
                        planned, BlockAnswers.OP, inputsWith(() -> planned.field = Optional.of(1)));
        assertEquals(
                BlockAnswers.stock(stock, inputsWith(() -> stock.field = Optional.of(1))).outputs(),
                answers.outputs());
        assertEquals(Optional.empty(), answers.report().orElseThrow().unclosedReason());
    }

    /** The prediction that fails follows a recording with {@code op}: arrays were closed before. */
    @ParameterizedTest
    @ValueSource(strings = {"auto", "op"})
    void predict_blockThatThrows_ranOnceAndThrowsTheSame(String liveness) {
        RandomBlock.Calls.COUNT.set(0);
        CodeBlock.Code code =
                (self, store, inputs) -> {
                    RandomBlock.Calls.COUNT.incrementAndGet();
                    NDArray x = inputs.head().mul(2).add(1).mul(3);
                    if (inputs.head().getFloat(0) > 3) {
                        throw new UnsupportedOperationException("too large");
                    }
                    return new NDList(x.add(1));
                };
        TranslateException thrown =
                assertThrows(
                        TranslateException.class,
                        () ->
                                BlockAnswers.planned(
                                        new CodeBlock(code), Map.of(LIVENESS, liveness), inputs()));
        assertTrue(thrown.getCause() instanceof UnsupportedOperationException, thrown.toString());
        assertEquals(4, RandomBlock.Calls.COUNT.get());
    }

    /** Returns the outputs of DJL's own block, which gets a user's block in the meantime. */
    private static BlockAnswers growing(boolean plans, CodeBlock added) throws Exception {
        SequentialBlock block =
                new SequentialBlock().add(Activation.reluBlock()).add(Activation.reluBlock());
        List<BlockAnswers.Inputs> inputs = inputsWith(() -> block.add(added));
        return plans
                ? BlockAnswers.planned(block, Map.of(), inputs)
                : BlockAnswers.stock(block, inputs);
    }

    @Test
    void auto_usersBlockAddedAfterLoading_runsOnceAndAnswersAsStock() throws Exception {
        CodeBlock.Code code =
                (self, store, inputs) -> new NDList(inputs.head().mul(++self.calls).add(1).mul(2));
        CodeBlock added = new CodeBlock(code);
        BlockAnswers planned = growing(true, added);
        assertEquals(growing(false, new CodeBlock(code)).outputs(), planned.outputs());
        assertEquals(PREDICTIONS - 3, added.calls);
        String reason = planned.report().orElseThrow().unclosedReason().orElseThrow();
        assertTrue(reason.startsWith(CodeBlock.class.getName() + " is not one of"), reason);
    }

    /** The cache is larger in each call than any hole that earlier caches left. */
    @ParameterizedTest
    @ValueSource(strings = {"auto", "op"})
    void predict_cacheGrowsByAMegabyte_isNotInAnArena(String liveness) throws Exception {
        CodeBlock.Code cache = keepingArrays().get(0);
        List<BlockAnswers.Inputs> rows =
                Collections.nCopies(30, manager -> new NDList(manager.ones(new Shape(1, 1 << 18))));
        BlockAnswers planned =
                BlockAnswers.planned(new CodeBlock(cache), Map.of(LIVENESS, liveness), rows);
        assertEquals(BlockAnswers.stock(new CodeBlock(cache), rows).outputs(), planned.outputs());
        assertTrue(planned.heldBytes() <= 16 << 20, planned.heldBytes() + " bytes");
    }

    /** Returns blocks with code of a user in other places than the block's class. */
    static List<Block> foreign() throws Exception {
        return List.of(
                new SequentialBlock().addSingleton(x -> x.mul(2)),
                new SequentialBlock().add(Activation::relu),
                new SequentialBlock().add(new LambdaBlock(inputs -> inputs)),
                new ParallelBlock(lists -> lists.get(0)).add(Activation.reluBlock()),
                new SequentialBlock() {},
                new SequentialBlock().add(inDjlsPackage()));
    }

    private static Block inDjlsPackage() throws Exception {
        String source =
                "package ai.djl.nn; public class Mine extends SequentialBlock { public Mine() {} }";
        return (Block)
                Compiled.load("ai.djl.nn.Mine", source).getDeclaredConstructor().newInstance();
    }

    @ParameterizedTest
    @MethodSource("foreign")
    void auto_codeOfAUserAnywhere_isLeftToDjl(Block block) throws Exception {
        PlanReport report = report(block, Map.of());
        String reason = report.unclosedReason().orElseThrow();
        assertTrue(reason.contains(" is not one of DJL's own classes"), reason);
        assertTrue(report.toString().contains("\n  intermediates are left to DJL: " + reason));
        assertTrue(report.planned());
    }

    @Test
    void auto_djlsOwnBlock_isClosedWithoutAWord() throws Exception {
        try (LogCapture log = LogCapture.echoing()) {
            Block block = new SequentialBlock().add(Activation.reluBlock());
            PlanReport report = report(block, Map.of());
            assertEquals(Optional.empty(), report.unclosedReason());
            assertTrue(log.ours("INFO").stream().noneMatch(line -> line.contains("left to DJL")));
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void op_stateThatCannotBeSeen_namesTheField() throws Exception {
        CodeBlock block = new CodeBlock((self, store, inputs) -> inputs);
        block.field = Optional.of(new BitSet());
        try (LogCapture log = LogCapture.echoing()) {
            PlanReport report = report(block, BlockAnswers.OP);
            String reason =
                    CodeBlock.class.getName()
                            + ".field has a java.util.BitSet, whose changes djl-plan cannot see";
            assertEquals(Optional.of(reason), report.unclosedReason());
            String warning = log.ours("WARN").get(0);
            assertTrue(warning.endsWith("whatever " + LIVENESS + " says: " + reason), warning);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"memplan.verify", "memplan.warmup"})
    void load_optionThatRunsTwice_rejectsAUsersBlock(String option) {
        SideEffects.Effect effect = SideEffects.FIELD.get();
        Map<String, ?> options = Map.of(option, option.endsWith("warmup") ? "3" : "true");
        Exception rejected =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> report(new Affected(effect), options));
        String message = rejected.getMessage();
        assertTrue(message.startsWith(option + "=true: "), message);
        assertTrue(message.contains(Affected.class.getName() + " is not one of DJL's"), message);
        assertEquals(1, effect.next());
    }
}
