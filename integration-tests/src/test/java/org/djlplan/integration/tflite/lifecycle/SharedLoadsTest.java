package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.SharedLoads;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Test;

/** Tests loads of one TensorFlow Lite file that share a model. */
@OnEveryDjl
class SharedLoadsTest extends SharedLoads {

    private static final List<Integer> SHAPE = List.of(1, 224, 224, 3);

    @Override
    protected Path model(int which) {
        return TestModels.built(which == 0 ? "mobilenet_v2" : "mobilenet_v1");
    }

    @Override
    protected ZooModel<NDList, NDList> load(Path file, Map<String, Object> options)
            throws Exception {
        return Planned.load(file, options);
    }

    @Override
    protected Object predict(ZooModel<NDList, NDList> model) throws Exception {
        ByteBuffer values =
                ByteBuffer.allocateDirect(224 * 224 * 3 * Float.BYTES)
                        .order(ByteOrder.nativeOrder());
        for (int i = 0; i < 224 * 224 * 3; i++) {
            values.putFloat(i * Float.BYTES, i % 255 / 255f);
        }
        return Planned.predict(model, List.of(values), List.of(SHAPE));
    }

    @Override
    protected void assertFreed() {
        Freed.assertEverything();
    }

    @Test
    void load_sameFileOftenWithoutTheOption_warnsNot() throws Exception {
        assertEquals(List.of(), warningsOfManyLoads());
    }
}
