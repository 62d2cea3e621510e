package org.djlplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** The only place where commands call the code that plans and runs models. */
final class PlannedLoading {

    private static final int ENGINE_DEFAULT = -1;

    private PlannedLoading() {}

    /**
     * Returns the factory with which DJL loads a model planned. Options of a command count as
     * options that the application sets, so all are accepted.
     *
     * @param progress receives the progress of measuring delegation
     */
    static TranslatorFactory translatorFactory(
            ImmutableMap<String, String> arguments, Optional<Progress> progress) {
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        if (progress.isPresent()) {
            factory = factory.withProgress(progress.get());
        }
        for (Map.Entry<String, String> argument : arguments.entrySet()) {
            if (GivenOptions.isPlanOption(argument.getKey())) {
                factory = factory.with(argument.getKey(), argument.getValue());
            }
        }
        return factory;
    }

    /** Returns the arguments for DJL itself. */
    static Map<String, String> othersArguments(ImmutableMap<String, String> arguments) {
        return Maps.filterKeys(arguments, key -> !GivenOptions.isPlanOption(key));
    }

    /**
     * Returns the arguments of a model that does not run as stock: the user's arguments, and for
     * TensorFlow Lite the number of threads. (On PyTorch, {@link WorkerProcess.Jvm} sets the number
     * for the whole JVM.) Delegation uses stored results unless the user sets otherwise, because
     * measuring in the background would disturb the command's measurements. A TorchScript model is
     * pinned to its stored result, so that it is rewritten before the first prediction.
     */
    static ImmutableMap<String, String> arguments(RunOptions options, RunMode mode) {
        Map<String, String> arguments = new LinkedHashMap<>();
        if (options.engine() == EngineKind.TFLITE) {
            options.threads()
                    .ifPresent(n -> arguments.put(OptionKey.THREADS.key(), Integer.toString(n)));
        }
        // The user's own -o memplan.threads=N takes precedence, because it is more specific.
        arguments.putAll(options.arguments());
        if (mode != RunMode.DELEGATED) {
            arguments.keySet().removeIf(key -> key.startsWith(PlanOptions.DELEGATION_PREFIX));
            arguments.put(DelegationKey.ENABLED.key(), "false");
        } else if (arguments.putIfAbsent(DelegationKey.PROFILE.key(), "off") == null
                && options.engine() == EngineKind.PYTORCH
                && options.mayDelegate()) {
            arguments.putIfAbsent(DelegationKey.ON_MISSING.key(), "cpu");
        }
        return ImmutableMap.copyOf(arguments);
    }

    /**
     * Checks the arguments of a model that does not run as stock.
     *
     * @throws IllegalArgumentException if a key is unknown or a value is of the wrong kind
     */
    static void check(Map<String, String> arguments) {
        DelegationOptions unused = DelegationOptions.parse(parse(arguments).delegation());
    }

    /** Parses options on a command line, which count as set by the application. */
    static PlanOptions parse(Map<String, String> arguments) {
        return PlanOptions.parse(
                GivenOptions.of(
                        Maps.filterKeys(arguments, GivenOptions::isPlanOption),
                        Map.of(),
                        Map.of(),
                        List.of(DelegationKey.values())));
    }

    /**
     * Returns the size of the stock engine's own arena for a model in bytes, or empty if unknown.
     */
    static OptionalLong stockArenaBytes(RunOptions options) {
        if (!(options.model() instanceof ModelRef.OfFile file)
                || options.engine() != EngineKind.TFLITE) {
            return OptionalLong.empty();
        }
        try {
            EngineView view =
                    EngineView.of(
                            file.readable(),
                            options.threads().orElse(ENGINE_DEFAULT),
                            InputSpec.OfTfLite.dimensions(options.inputs()));
            return OptionalLong.of(view.arenaBytes());
        } catch (IOException | UnplannableException e) {
            return OptionalLong.empty();
        }
    }

    /** Reads the graph of a {@code .tflite} file, without an engine. */
    static Graph readFile(Path model) throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(model), model.getFileName().toString());
    }

    /**
     * Opens a model in the engine.
     *
     * @param shapes of the inputs; empty for the shapes in the file
     * @throws Failure if the engine cannot run it
     */
    static EngineView engineView(Path model, List<List<Integer>> shapes) throws IOException {
        EngineKind.TFLITE.load();
        try {
            return EngineView.of(model, ENGINE_DEFAULT, shapes);
        } catch (UnplannableException e) {
            throw new Failure(model.toString(), e);
        }
    }

    static ArrayType type(InputSpec input) {
        return new ArrayType(
                input.type().orElse(DataType.FLOAT32).name().toLowerCase(Locale.ROOT),
                Longs.asList(input.shape().getShape()));
    }
}
