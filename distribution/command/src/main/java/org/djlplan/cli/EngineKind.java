package org.djlplan.cli;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.io.Files;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

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

    /** Parses an engine's name in upper or lower case. */
    static final class Converter implements ITypeConverter<EngineKind> {
        @Override
        public EngineKind convert(String text) {
            for (EngineKind kind : values()) {
                if (kind.engineName.equalsIgnoreCase(text)) {
                    return kind;
                }
            }
            throw new TypeConversionException(
                    "unknown engine '" + text + "': expected TFLite, PyTorch or OnnxRuntime");
        }
    }
}
