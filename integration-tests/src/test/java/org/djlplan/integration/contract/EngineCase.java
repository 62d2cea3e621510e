package org.djlplan.integration.contract;

import static org.djlplan.integration.torch.ModelInputs.floats;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** An engine, with small models for it. */
public enum EngineCase {
    TFLITE(
            "TFLite",
            List.of(
                    new ModelInputs.Array(shape(1, 3, 32, 32), DataType.FLOAT32, 1),
                    new ModelInputs.Array(shape(1, 32, 32, 8), DataType.UINT8, 5))) {
        @Override
        public List<ModelCase> models(Path folder) throws IOException {
            return List.of(
                    model(TestModels.built("chains"), folder, floats(dimensions(1, 32, 32, 8))),
                    model(
                            TestModels.built("blaze_face"),
                            folder,
                            floats(dimensions(1, 128, 128, 3))),
                    model(
                            TestModels.built("fully_convolutional"),
                            folder,
                            floats(dimensions(1, 32, 32, 3)),
                            floats(dimensions(1, 48, 80, 3)),
                            floats(dimensions(1, 96, 32, 3))));
        }
    },

    PYTORCH(
            "PyTorch",
            List.of(
                    new ModelInputs.Array(shape(1, 4, 32, 32), DataType.FLOAT32, 1),
                    new ModelInputs.Array(shape(32), DataType.FLOAT32, 1),
                    new ModelInputs.Array(shape(1, 3, 32, 32), DataType.INT64, 5))) {
        @Override
        public List<ModelCase> models(Path folder) throws IOException {
            ImmutableList.Builder<ModelCase> models = ImmutableList.builder();
            for (String name : List.of("cnn", "in_place", "lstm", "branch", "fork", "attention")) {
                TorchScriptModel model = TorchScriptModels.named(name);
                models.add(
                        model(model.file(), folder, model.inputSets().toArray(ModelInputs[]::new)));
            }
            return models.build();
        }

        @Override
        void prepareThread() {
            Torch.threads(1);
        }
    },

    ONNX_RUNTIME(
            "OnnxRuntime",
            List.of(
                    new ModelInputs.Array(shape(1, 4, 32, 32), DataType.FLOAT32, 1),
                    new ModelInputs.Array(shape(3, 32), DataType.FLOAT32, 1),
                    new ModelInputs.Array(shape(1, 3, 32, 32), DataType.INT64, 5))) {
        @Override
        public List<ModelCase> models(Path folder) throws IOException {
            ModelInputs[] images = {
                floats(dimensions(1, 3, 32, 32)),
                floats(dimensions(2, 3, 64, 48)),
                floats(dimensions(1, 3, 104, 160))
            };
            return List.of(
                    made("classifier", OnnxSketch.classifier(), folder, images),
                    made("detector", OnnxSketch.detector(), folder, images),
                    made(
                            "encoder",
                            OnnxSketch.encoder(),
                            folder,
                            floats().and(DataType.INT64, 1000, 1, 7),
                            floats().and(DataType.INT64, 1000, 4, 50)),
                    made(
                            "half",
                            OnnxSketch.half(),
                            folder,
                            floats(dimensions(3, 64)),
                            floats(dimensions(40, 64))),
                    made(
                            "quantized",
                            OnnxSketch.quantized(),
                            folder,
                            floats(dimensions(3, 64)),
                            floats(dimensions(40, 64))),
                    made(
                            "recurrent",
                            OnnxSketch.recurrent(),
                            folder,
                            floats(dimensions(1, 64), dimensions(1, 64)),
                            floats(dimensions(1, 500), dimensions(1, 64))),
                    made(
                            "external",
                            OnnxSketch.large().withExternalData(),
                            folder,
                            floats(dimensions(1, 1024)),
                            floats(dimensions(7, 1024))));
        }
    };

    private final String engine;
    private final ImmutableList<ModelInputs> wrongInputs;

    /**
     * @param wrongArrays arrays that the first model does not take in place of its only input
     */
    EngineCase(String engine, List<ModelInputs.Array> wrongArrays) {
        this.engine = engine;
        wrongInputs =
                wrongArrays.stream()
                        .map(array -> new ModelInputs(List.of(array)))
                        .collect(ImmutableList.toImmutableList());
    }

    private static Shape shape(long... dimensions) {
        return new Shape(dimensions);
    }

    private static long[] dimensions(long... dimensions) {
        return dimensions;
    }

    private static Path own(Path folder, Path name) throws IOException {
        return Files.createTempDirectory(folder, "model").resolve(name);
    }

    private static ModelCase made(
            String name, OnnxSketch sketch, Path folder, ModelInputs... inputSets)
            throws IOException {
        Path file = sketch.write(own(folder, Path.of(name + ".onnx")));
        return new ModelCase(ONNX_RUNTIME, file, List.of(inputSets));
    }

    /** Copies a file into a folder of its own, because results are stored beside the model. */
    ModelCase model(Path file, Path folder, ModelInputs... inputSets) throws IOException {
        Path copy = Files.copy(file, own(folder, file.getFileName()));
        return new ModelCase(this, copy, List.of(inputSets));
    }

    /** Returns DJL's name of the engine. */
    String engine() {
        return engine;
    }

    /** Makes copies of the models. The first one has a single input and a single output. */
    public abstract List<ModelCase> models(Path folder) throws IOException;

    /** Returns inputs that the first model does not take. */
    List<ModelInputs> wrongInputs() {
        return wrongInputs;
    }

    /** Gives operators that the current thread calls one thread, so that outputs are comparable. */
    void prepareThread() {}

    /** Returns options with which outputs are the reference's bytes. */
    Map<String, Object> options(Map<String, ?> more) {
        ImmutableMap.Builder<String, Object> options = ImmutableMap.builder();
        options.put("delegation.enabled", false);
        if (this == TFLITE) {
            options.put("memplan.threads", 1);
        }
        return options.putAll(more).buildKeepingLast();
    }

    /** Returns a manager of an application's own arrays. */
    NDManager newManager() {
        return NDManager.newBaseManager(engine);
    }
}
