package org.djlplan.cli;

import ai.djl.engine.Engine;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.io.Files;

/** The supported engines. */
enum EngineKind {
    TFLITE("TFLite"),
    PYTORCH("PyTorch"),
    ONNX_RUNTIME("OnnxRuntime");

    private final String engineName;

    EngineKind(String engineName) {
        this.engineName = engineName;
    }

    /** Returns the engine's name in DJL. */
    String engineName() {
        return engineName;
    }

    /** Returns how to add an engine that the distribution lacks; empty if it has it. */
    String advice() {
        return this == ONNX_RUNTIME
                ? ": add the jars ai.djl.onnxruntime:onnxruntime-engine, of the same version as"
                        + " DJL, and com.microsoft.onnxruntime:onnxruntime to the folder lib of the"
                        + " distribution"
                : "";
    }

    /**
     * Loads the engine.
     *
     * @throws Failure if it is not on the class path, or its native library cannot be loaded
     */
    void load() {
        if (!Engine.hasEngine(engineName)) {
            throw new Failure(
                    "the %s engine is not on the class path%s".formatted(engineName, advice()));
        }
        try {
            Engine.getEngine(engineName).newBaseManager().close();
        } catch (LinkageError e) {
            throw new Failure("the %s engine cannot be loaded".formatted(engineName), e);
        }
    }

    @Override
    public String toString() {
        return engineName;
    }

    /** Returns the engine that the name of a model file suggests. */
    static Optional<EngineKind> guess(Path model) {
        return switch (Files.getFileExtension(model.toString()).toLowerCase(Locale.ROOT)) {
            case "tflite" -> Optional.of(TFLITE);
            case "pt", "pth", "pts" -> Optional.of(PYTORCH);
            case "onnx" -> Optional.of(ONNX_RUNTIME);
            default -> Optional.empty();
        };
    }
}
