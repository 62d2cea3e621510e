package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.file.Path;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParameterMoveTest {

    private static final int SIZE = 1000;
    private static final long ROOM_BYTES = 16 << 20;

    @TempDir private Path folder;

    /** A block of several weights. */
    private static final class Weights extends AbstractBlock {

        Parameter add(String name, NDArray array) {
            Parameter parameter =
                    addParameter(
                            Parameter.builder()
                                    .setName(name)
                                    .setType(Parameter.Type.WEIGHT)
                                    .build());
            parameter.setArray(array);
            return parameter;
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return inputs;
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    @Test
    void move_tiedParameters_stayTied() throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch");
                WeightFile file = WeightFile.create(folder, ROOM_BYTES)) {
            Weights block = new Weights();
            NDArray shared = manager.arange(SIZE);
            NDArray equal = manager.arange(SIZE);
            int[] values = shared.toIntArray();
            Parameter embedding = block.add("embedding", shared);
            Parameter head = block.add("head", shared);
            Parameter other = block.add("other", equal);
            ParameterMove.move(block, file);
            assertSame(embedding.getArray(), head.getArray());
            assertNotSame(embedding.getArray(), other.getArray());
            assertArrayEquals(values, head.getArray().toIntArray());
            assertArrayEquals(values, other.getArray().toIntArray());
            assertTrue(shared.isReleased());
            assertTrue(equal.isReleased());
        }
    }
}
