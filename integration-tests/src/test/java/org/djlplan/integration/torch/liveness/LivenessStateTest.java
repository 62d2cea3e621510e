package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.djl.purity.BlockCode;
import org.djlplan.memplan.internal.djl.purity.Finding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests blocks that keep state in Java: their outputs, and what the analysis reports about them.
 */
@OnEveryDjlWhenLong
class LivenessStateTest {

    private static final Shape SHAPE = new Shape(1, 6);
    private static final int CALLS = 50;
    private static final int ROUNDS = 3;

    /** The code of a block without analysis: the check is off. */
    private static final BlockCode UNCHECKED = BlockCode.UNREAD;

    private static List<String> answers(
            Supplier<? extends Block> made, Liveness mode, boolean checked) {
        Engine.getEngine(Sample.ENGINE).setRandomSeed(7);
        Block block = made.get();
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor =
                    new LivenessExecutor(block, mode, checked ? BlockCode.look(block) : UNCHECKED);
            List<String> answers = new ArrayList<>();
            for (int call = 0; call < CALLS; call++) {
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = new NDList(manager.ones(SHAPE).mul(call % 4));
                    answers.add(Sample.bits(sample.planned(executor, inputs)).toString());
                } catch (RuntimeException e) {
                    answers.add(e.getClass().getSimpleName());
                }
            }
            return answers;
        }
    }

    private static int differing(Liveness mode, boolean checked) {
        int differing = 0;
        for (long seed = 0; seed < (long) ROUNDS * NastyBlock.kinds(); seed++) {
            long same = seed;
            List<String> expected = answers(() -> NastyBlock.of(same), Liveness.OFF, false);
            List<String> planned = answers(() -> NastyBlock.of(same), mode, checked);
            if (checked) {
                assertEquals(expected, planned, "seed " + seed + ": " + NastyBlock.of(seed));
            }
            differing += expected.equals(planned) ? 0 : 1;
        }
        return differing;
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_generatedBlocks_answerAsInDjl(Liveness mode) {
        assertEquals(0, differing(mode, true));
    }

    /** Without the check, the property of the other test does not hold. */
    @Test
    void forward_generatedBlocksUnchecked_answerOtherwise() {
        assertTrue(differing(Liveness.OP, false) > NastyBlock.kinds());
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_counterAndSkipFromStepFour_answersAsInDjl(Liveness mode) {
        Supplier<Block> block = () -> NastyBlock.of(new NastyBlock.SkippingLater(2));
        List<String> expected = answers(block, Liveness.OFF, false);
        assertEquals(expected, answers(block, mode, true));
        assertNotEquals(expected, answers(block, Liveness.OP, false));
    }

    @ParameterizedTest
    @EnumSource(Liveness.class)
    void forward_counterAndCast_answersAsInDjl(Liveness mode) {
        Supplier<Block> block = () -> NastyBlock.of(new NastyBlock.Casting(0));
        List<String> expected = answers(block, Liveness.OFF, false);
        assertEquals(expected, answers(block, mode, true));
        assertNotEquals(expected, answers(block, Liveness.OP, false));
    }

    /** A cache is filled once; from then on its state does not change. */
    @Test
    void op_blockThatFillsACache_closesOnceItIsFilled() {
        Block block = NastyBlock.of(new NastyBlock.Caching(3), new NastyBlock.Scaling(1));
        try (Sample sample = new Sample(block, SHAPE)) {
            BlockCode code = BlockCode.look(block);
            assertFalse(code.pure());
            assertEquals(Optional.empty(), code.detour());
            LivenessExecutor executor = new LivenessExecutor(block, Liveness.OP, code);
            for (int call = 0; call < 6; call++) {
                try (NDManager manager = sample.newManager()) {
                    sample.planned(executor, sample.inputs(manager, 1, call));
                }
            }
            assertTrue(executor.closedEarly() > 0);
            assertEquals(0, executor.fallbacks());
            assertEquals(Liveness.OFF, new LivenessExecutor(block, Liveness.AUTO, code).mode());
        }
    }

    /**
     * The application sets the switch, not the block. Its next passes keep arrays that were closed
     * before.
     */
    @Test
    void op_debugSwitchSetAfterRecording_keptArrayStaysOpen() {
        Switched block = new Switched();
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor =
                    new LivenessExecutor(block, Liveness.OP, BlockCode.look(block));
            for (int call = 0; call < 12; call++) {
                block.debug = call >= 5;
                try (NDManager manager = sample.newManager()) {
                    NDList inputs = sample.inputs(manager, 1, call);
                    NDArray expected = inputs.head().mul(2);
                    sample.planned(executor, inputs);
                    if (block.debug) {
                        assertEquals(expected, block.kept.head());
                    }
                }
            }
            assertTrue(executor.closedEarly() > 0);
        }
    }

    private static final class Switched extends ai.djl.nn.AbstractBlock {

        private final NDList kept = new NDList();
        private boolean debug;

        @Override
        protected NDList forwardInternal(
                ai.djl.training.ParameterStore store,
                NDList inputs,
                boolean training,
                ai.djl.util.PairList<String, Object> params) {
            NDArray y = inputs.head().mul(2);
            if (debug) {
                kept.clear();
                kept.add(y);
            }
            return new NDList(y.add(1).mul(3).add(2));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return inputShapes;
        }
    }

    /** A failed forward pass still counts as run. */
    @ParameterizedTest
    @ValueSource(strings = {"OP", "AUTO"})
    void forward_blockThatCountsAndThrows_runsOncePerCall(String mode) {
        CodeBlock block =
                new CodeBlock(
                        (self, store, inputs) -> {
                            self.calls++;
                            NDArray y = inputs.head().add(1);
                            if (self.calls % 2 == 0) {
                                throw new UnsupportedOperationException("even");
                            }
                            return new NDList(y.mul(2).add(1));
                        });
        try (Sample sample = new Sample(block, SHAPE)) {
            LivenessExecutor executor =
                    new LivenessExecutor(block, Liveness.valueOf(mode), BlockCode.look(block));
            for (int call = 1; call <= 10; call++) {
                try (NDManager manager = sample.newManager()) {
                    sample.planned(executor, sample.inputs(manager, 1, call));
                } catch (UnsupportedOperationException e) {
                    assertEquals(0, call % 2);
                }
                assertEquals(call, block.calls);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ZooBlocks.class)
    void look_networkOfTheZoo_isPure(ZooBlocks zoo) {
        try (Sample sample = zoo.sample()) {
            BlockCode code = BlockCode.look(sample.block());
            assertEquals(List.of(), code.findings());
        }
    }

    @Test
    void look_everyKindOfNastyStep_isFound() {
        int pure = 0;
        for (long kind = 0; kind < NastyBlock.kinds(); kind++) {
            pure += BlockCode.look(NastyBlock.ofKind((int) kind)).pure() ? 1 : 0;
        }
        // The step that only computes.
        assertEquals(1, pure);
    }

    /**
     * Makes a block in a class of its own, because functions of the same type in one class cannot
     * be distinguished.
     */
    private static final class Fresh {
        static Block block() {
            return new SequentialBlock().addSingleton(x -> x.mul(2).addi(3));
        }
    }

    private static final class Keeping {
        static Block block(List<NDArray> seen) {
            return new SequentialBlock()
                    .add(Linear.builder().setUnits(2).build())
                    .addSingleton(
                            x -> {
                                seen.add(x);
                                return x;
                            });
        }
    }

    private static final class Given {
        static Block block() {
            return new SequentialBlock().addSingleton(x -> x.addi(1));
        }
    }

    private static final class View {
        static Block block() {
            return new SequentialBlock().addSingleton(x -> x.reshape(-1).muli(2));
        }
    }

    @Test
    void look_functions_areDistinguished() {
        assertEquals(List.of(), code(Fresh.block()).findings());
        Finding finding = code(Keeping.block(new ArrayList<>())).impurity().orElseThrow();
        assertEquals(Keeping.class.getName(), finding.className());
        assertTrue(finding.what().contains("List.add"), finding.what());
        assertFalse(code(Given.block()).pure());
        assertFalse(code(View.block()).pure());
    }

    @Test
    void look_dropoutWithTraining_isNotPure() {
        Block dropout = ai.djl.nn.norm.Dropout.builder().build();
        assertTrue(code(dropout).pure());
        CodeBlock training =
                new CodeBlock((self, store, inputs) -> dropout.forward(store, inputs, true));
        assertFalse(code(training).pure());
    }

    private static BlockCode code(Block block) {
        return BlockCode.look(block);
    }

    /** From DJL 0.29 on, a buffer may be a view of an array's memory; before, it is a copy. */
    @Test
    void look_blockThatTakesADirectBuffer_isPureOnlyWhereItIsACopy() throws Exception {
        boolean windows =
                java.util.Arrays.stream(NDArray.class.getMethods())
                        .anyMatch(
                                m ->
                                        m.getName().equals("toByteBuffer")
                                                && m.getParameterCount() == 1);
        String source =
                "public class Versioned extends ai.djl.nn.AbstractBlock {"
                        + " protected ai.djl.ndarray.NDList forwardInternal("
                        + " ai.djl.training.ParameterStore s, ai.djl.ndarray.NDList l, boolean t,"
                        + " ai.djl.util.PairList<String, Object> p) {"
                        + " ai.djl.ndarray.NDArray x = l.head().add(1);"
                        + " java.nio.ByteBuffer b = x.toByteBuffer(ARGUMENT);"
                        + " ai.djl.ndarray.NDArray y = l.head().mul(2);"
                        + " for (int i = 0; i < 20; i++) { y = y.add(1); }"
                        + " return new ai.djl.ndarray.NDList(y.add(b.getFloat(0))); }"
                        + " public ai.djl.ndarray.types.Shape[] getOutputShapes("
                        + " ai.djl.ndarray.types.Shape[] s) { return s; } }";
        Block copying = version(source.replace("ARGUMENT", ""));
        assertEquals(Optional.empty(), code(copying).impurity());
        Block block = windows ? version(source.replace("ARGUMENT", "true")) : copying;
        assertEquals(!windows, code(block).pure());
        Supplier<Block> made = () -> block;
        List<String> expected = answers(made, Liveness.OFF, false);
        for (Liveness mode : Liveness.values()) {
            assertEquals(expected, answers(made, mode, true));
        }
        // Even in a recorded pass, the array behind the buffer stays open.
        assertEquals(expected, answers(made, Liveness.OP, false));
    }

    @Test
    void look_newVersionOfAClass_hasAnotherHash() throws Exception {
        String source =
                "public class Versioned extends ai.djl.nn.AbstractBlock {"
                        + " protected ai.djl.ndarray.NDList forwardInternal("
                        + " ai.djl.training.ParameterStore s, ai.djl.ndarray.NDList l, boolean t,"
                        + " ai.djl.util.PairList<String, Object> p) {"
                        + " return new ai.djl.ndarray.NDList(l.head().mul(NUMBER)); }"
                        + " public ai.djl.ndarray.types.Shape[] getOutputShapes("
                        + " ai.djl.ndarray.types.Shape[] s) { return s; } }";
        BlockCode first = code(version(source.replace("NUMBER", "2")));
        BlockCode again = code(version(source.replace("NUMBER", "2")));
        BlockCode second = code(version(source.replace("NUMBER", "3")));
        assertTrue(first.pure(), first.findings().toString());
        assertEquals(first.hash(), again.hash());
        assertNotEquals(first.hash(), second.hash());
    }

    static Block version(String source) throws Exception {
        return (Block) Compiled.load("Versioned", source).getDeclaredConstructor().newInstance();
    }
}
