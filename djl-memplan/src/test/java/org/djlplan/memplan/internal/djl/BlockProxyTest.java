package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class BlockProxyTest {

    /** An interface that is not DJL's. */
    public interface Named {
        String name();
    }

    private interface Hidden {}

    private static final NDList PLANNED = new NDList();

    private final ParameterStore store = new ParameterStore(FakeArrays.manager(), false);
    private final NDList inputs = new NDList();
    private final List<String> calls = new ArrayList<>();
    private final Original original = new Original();
    private final List<Optional<PairList<String, Object>>> planned = new ArrayList<>();
    private final Block proxy =
            BlockProxy.wrap(
                    original,
                    (parameters, given, params) -> {
                        planned.add(params);
                        return PLANNED;
                    });

    private final class Original extends AbstractBlock implements Named, Hidden {

        @Override
        protected NDList forwardInternal(
                ParameterStore parameters,
                NDList given,
                boolean training,
                PairList<String, Object> params) {
            calls.add("forward " + training + ' ' + params);
            return given;
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore parameters,
                NDList data,
                NDList labels,
                PairList<String, Object> params) {
            calls.add("labels");
            return labels;
        }

        @Override
        public Shape[] getOutputShapes(Shape[] shapes) {
            throw new UnsupportedOperationException("no shapes");
        }

        @Override
        public String name() {
            return "original";
        }

        @Override
        public void freezeParameters(boolean freeze) {
            calls.add("freeze " + freeze);
        }
    }

    @Test
    void forward_inference_isThePlannedPass() {
        PairList<String, Object> params = new PairList<>();
        assertSame(PLANNED, proxy.forward(store, inputs, false));
        assertSame(PLANNED, proxy.forward(store, inputs, false, params));
        assertSame(PLANNED, proxy.forward(store, inputs, false, null));
        assertEquals(List.of(Optional.empty(), Optional.of(params), Optional.empty()), planned);
        assertEquals(List.of(), calls);
    }

    @Test
    void forward_training_isTheOriginals() {
        assertSame(inputs, proxy.forward(store, inputs, true));
        NDList labels = new NDList();
        assertSame(labels, proxy.forward(store, inputs, labels, null));
        assertEquals(List.of("forward true null", "labels"), calls);
        assertEquals(List.of(), planned);
    }

    @Test
    void of_block_runsItsForwardForInference() {
        InferencePass stock = InferencePass.of(original);
        assertSame(inputs, stock.forward(store, inputs, Optional.empty()));
        assertEquals(List.of("forward false null"), calls);
    }

    @Test
    void otherMethods_reachTheOriginal() {
        proxy.freezeParameters(true);
        assertEquals(List.of("freeze true"), calls);
        assertEquals("original", assertInstanceOf(Named.class, proxy).name());
        assertFalse(proxy instanceof Hidden);
        assertEquals(original.toString(), proxy.toString());
        assertEquals(original.hashCode(), proxy.hashCode());
    }

    @Test
    void otherMethods_originalThrows_propagatesException() {
        UnsupportedOperationException thrown =
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> proxy.getOutputShapes(new Shape[0]));
        assertEquals("no shapes", thrown.getMessage());
    }

    @Test
    void equals_itselfAlone() {
        assertTrue(proxy.equals(proxy));
        assertNotEquals(proxy, original);
        assertNotEquals(proxy, BlockProxy.wrap(original, InferencePass.of(original)));
        assertFalse(proxy.equals(null));
    }
}
