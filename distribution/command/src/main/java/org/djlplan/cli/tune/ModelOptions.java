package org.djlplan.cli.tune;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The model to measure and the delegate: the options that {@code tune} and {@code study} share. */
final class ModelOptions {

    private static final String USUAL_DELEGATE = "xnnpack";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = "The model's file (.tflite; tune: also TorchScript, .pt).")
    private String model;

    @Option(
            names = "--delegate",
            paramLabel = "NAME",
            description =
                    "xnnpack or xnnpack-transient; the file of a library with TensorFlow Lite's"
                            + " external delegate interface; or class:NAME, a DelegateFactory on the"
                            + " class path (default: "
                            + USUAL_DELEGATE
                            + ").")
    private String delegate;

    /** For picocli. */
    ModelOptions() {}

    /** Returns the value of {@code delegation.delegate}, if it is given. */
    Optional<String> delegate() {
        return Optional.ofNullable(delegate);
    }

    /**
     * Returns the model's file, which may be a TorchScript model.
     *
     * @throws ParameterException if its name ends neither in .tflite nor in .pt
     * @throws IllegalStateException if the file cannot be read
     */
    Path fileOfEitherEngine() {
        return TorchScriptModels.has(Path.of(model)) && delegate().isEmpty()
                ? readable(Path.of(model))
                : file();
    }

    /**
     * Returns the model's file.
     *
     * @throws ParameterException if its name does not end in .tflite
     * @throws IllegalStateException if the file cannot be read
     */
    Path file() {
        boolean block = model.startsWith("zoo:") || model.startsWith("block:");
        if (block || !isTfLite(Path.of(model))) {
            throw new ParameterException(
                    spec.commandLine(),
                    "'" + model + "': only TensorFlow Lite models (.tflite) have a delegate");
        }
        return readable(Path.of(model));
    }

    private static Path readable(Path file) {
        if (!Files.exists(file)) {
            throw new IllegalStateException("no such model: " + file);
        }
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new IllegalStateException("cannot read the model: " + file);
        }
        return file;
    }

    private static boolean isTfLite(Path file) {
        return MoreFiles.getFileExtension(file).toLowerCase(Locale.ROOT).equals("tflite");
    }
}
