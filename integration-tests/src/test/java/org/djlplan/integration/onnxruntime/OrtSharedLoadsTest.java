package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.Map;
import org.djlplan.integration.support.SharedLoads;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests loads of one ONNX file that share a model. */
@Tag("onnxruntime")
class OrtSharedLoadsTest extends SharedLoads {

    @TempDir private Path sources;

    @Override
    protected Path model(int which) throws Exception {
        return (which == 0 ? OrtModels.Kind.CLASSIFIER : OrtModels.Kind.DETECTOR).write(sources);
    }

    @Override
    protected ZooModel<NDList, NDList> load(Path file, Map<String, Object> options)
            throws Exception {
        return OrtModels.planned(file, options);
    }

    @Override
    protected Object predict(ZooModel<NDList, NDList> model) throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList outputs = predictor.predict(OrtModels.image(manager, 64));
            Object copies = OrtModels.bytes(outputs);
            outputs.close();
            return copies;
        }
    }

    @Override
    protected void assertFreed() {
        Await.until(() -> ArenaPool.shared().metric().arenaBytes() == 0);
    }

    @Test
    void load_sameFileOftenWithoutTheOption_warnsOnce() throws Exception {
        assertEquals(1, warningsOfManyLoads().size());
    }
}
