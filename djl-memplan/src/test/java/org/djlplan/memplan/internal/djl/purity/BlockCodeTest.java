package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which blocks are known to be pure. Each block has a class of its own, because functions of
 * the same type in one class cannot be distinguished.
 */
class BlockCodeTest {

    /** A block that computes an array from its first input. */
    private abstract static class Code extends AbstractBlock {

        protected int count;

        abstract NDArray run(NDArray x);

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(run(inputs.head()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return inputShapes;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName();
        }
    }

    static Stream<Block> handlersThatHide() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x.mul(2);
                        NDArray m = h.max();
                        try {
                            return m.getFloat() > 100 ? h.div(m) : m;
                        } catch (RuntimeException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(2).add(1);
                        } catch (IllegalArgumentException | IllegalStateException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    @SuppressWarnings("finally")
                    NDArray run(NDArray x) {
                        try {
                            x = x.mul(2);
                        } finally {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(2);
                        } catch (IllegalStateException e) {
                            if (x.isEmpty()) {
                                throw e;
                            }
                            throw new UnsupportedOperationException(e);
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x.mul(2);
                        return h.isReleased() ? x : h;
                    }
                });
    }

    static Stream<Block> harmlessHandlers() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(Integer.parseInt(x.getName()));
                        } catch (NumberFormatException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        float scale;
                        try {
                            scale = Float.parseFloat("2");
                        } catch (RuntimeException e) {
                            scale = 1;
                        }
                        return x.mul(scale);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x;
                        List<NDArray> seen = new ArrayList<>();
                        try {
                            h = x.mul(2);
                            seen.add(h);
                        } finally {
                            seen.clear();
                        }
                        return h;
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try (NDManager own = x.getManager().newSubManager()) {
                            return own.ones(x.getShape()).add(x);
                        } catch (RuntimeException e) {
                            throw e;
                        }
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("handlersThatHide")
    void look_errorOfAClosedArrayMayBeHidden_isOpaque(Block block) {
        assertOpaque(block);
    }

    private static void assertOpaque(Block block) {
        BlockCode code = BlockCode.look(block);
        assertEquals(
                Optional.of(Finding.Kind.OPAQUE), code.impurity().map(Finding::kind), "is pure");
    }

    private static void assertPure(Block block) {
        assertEquals(Optional.empty(), BlockCode.look(block).impurity());
    }

    private static void assertNotPure(Block block) {
        assertTrue(BlockCode.look(block).impurity().isPresent(), "is pure");
    }

    @ParameterizedTest
    @MethodSource("harmlessHandlers")
    void look_errorOfAClosedArrayGoesOn_isPure(Block block) {
        List<Finding> opaque =
                BlockCode.look(block).findings().stream()
                        .filter(finding -> finding.what().contains("catch"))
                        .toList();
        assertEquals(List.of(), opaque);
    }
}
