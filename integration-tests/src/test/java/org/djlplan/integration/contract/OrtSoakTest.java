package org.djlplan.integration.contract;

import static org.djlplan.integration.torch.ModelInputs.floats;

import ai.djl.ndarray.types.DataType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.integration.torch.ModelInputs;
import org.junit.jupiter.api.Tag;

/** A soak of ONNX models, one of which takes inputs of two thousand shapes. */
@Tag("onnxruntime")
class OrtSoakTest extends SoakTests {

    private static final int SHAPES = 2_000;

    @Override
    protected List<ModelCase> models(Path folder) throws Exception {
        Path file = OnnxSketch.encoder(1, 8).write(folder.resolve("shapes.onnx"));
        ModelInputs[] shapes =
                IntStream.range(0, SHAPES)
                        .mapToObj(i -> floats().and(DataType.INT64, 1000, 1 + i % 20, 1 + i / 20))
                        .toArray(ModelInputs[]::new);
        List<ModelCase> models = new ArrayList<>(EngineCase.ONNX_RUNTIME.models(folder));
        models.add(EngineCase.ONNX_RUNTIME.model(file, folder, shapes));
        return models;
    }

    @Override
    protected int threads() {
        return 64;
    }
}
