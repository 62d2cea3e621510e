package org.djlplan.memplan.internal.djl.purity;

import static org.djlplan.memplan.internal.djl.purity.Code.assertOpaque;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which exception handlers may hide that an array was closed too early. */
@SuppressWarnings("ModifiedButNotUsed") // the blocks are read, not run
class HandlersTest {

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

    @Test
    void look_exceptionThatReplacesTheErrorIsHidden_isOpaque() {
        assertOpaque(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return multiplied(x);
                        } catch (RuntimeException e) {
                            return x;
                        }
                    }

                    private NDArray multiplied(NDArray x) {
                        try {
                            return x.mul(2);
                        } catch (IllegalStateException e) {
                            throw new RuntimeException(e);
                        }
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
                        try {
                            return x.mul(2);
                        } catch (Exception e) {
                            throw new RuntimeException("not multiplied", e);
                        }
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
