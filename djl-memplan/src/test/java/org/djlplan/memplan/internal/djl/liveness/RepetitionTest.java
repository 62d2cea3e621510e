package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;
import org.djlplan.memplan.internal.djl.purity.BlockCode;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class RepetitionTest {

    private final RuntimeException failure = new RuntimeException("closed too early");

    private final NDList inputs = new NDList(FakeArrays.bytes(FakeArrays.manager(), 1));
    private final ForwardPass pass =
            new ForwardPass(
                    new ParameterStore(FakeArrays.manager(), false), inputs, Optional.empty());

    /** Returns its inputs. */
    private static class Identity extends AbstractBlock {

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList given,
                boolean training,
                PairList<String, Object> params) {
            return given;
        }

        @Override
        public Shape[] getOutputShapes(Shape[] shapes) {
            return shapes;
        }
    }

    /** Returns its inputs, and counts its passes. */
    private static final class Counting extends Identity {

        private int passes;

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList given,
                boolean training,
                PairList<String, Object> params) {
            passes++;
            return given;
        }
    }

    @Test
    void run_blockThatLeavesNothingBehind_runsAsStock() {
        Identity block = new Identity();
        BlockCode code = BlockCode.look(block);
        assertTrue(code.pure(), code.findings().toString());
        NDList outputs = new Repetition(block, code).run(pass, failure);
        assertSame(inputs.head(), outputs.singletonOrThrow());
        assertTrue(pass.progress().begun());
    }

    @Test
    void run_blockThatKeepsACount_isNotRunAgain() {
        Counting block = new Counting();
        Repetition repetition = new Repetition(block, BlockCode.look(block));
        IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> repetition.run(pass, failure));
        assertSame(failure, thrown.getCause());
        assertTrue(thrown.getMessage().contains(Counting.class.getName()), thrown.getMessage());
        assertEquals(0, block.passes);
    }

    /** A block may have got other children since it was loaded. */
    @Test
    void run_blockThatWasPureWhenItWasLoaded_isLookedAtAgain() {
        Counting block = new Counting();
        BlockCode then = BlockCode.look(new Identity());
        assertThrows(
                IllegalStateException.class, () -> new Repetition(block, then).run(pass, failure));
        assertEquals(0, block.passes);
    }

    @Test
    void run_blockTakenOnTrust_runs() {
        Counting block = new Counting();
        new Repetition(block, BlockCode.UNREAD).run(pass, failure);
        assertEquals(1, block.passes);
    }
}
