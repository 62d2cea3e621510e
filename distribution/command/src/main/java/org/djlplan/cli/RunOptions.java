package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Doubles;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The model to run and its options: the parameters of every command that runs a model. */
final class RunOptions {

    /** The command, whose error stream shows progress. */
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description =
                    "The model's file (.tflite, .pt or .onnx); zoo:NAME, one of DJL's own networks"
                            + " with random weights, on PyTorch; or block:CLASS, a block on the class"
                            + " path with a public constructor without parameters.")
    private String model;

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            description = "TFLite, PyTorch or OnnxRuntime (default: by the file's name).")
    private EngineKind engine;

    @Option(
            names = "--input-shape",
            paramLabel = "D,D,…[:TYPE]",
            description =
                    "Shape of an input, such as 1,3,224,224, 1,128:int64 or scalar:int64; once per input"
                            + " (default: the shapes in a TFLite or ONNX model, the network's own for "
                            + "zoo:NAME). With =VALUE all elements have this value, such as a sampling "
                            + "rate: scalar:int64=16000.")
    private List<InputSpec> inputs = new ArrayList<>();

    @Option(
            names = "-o",
            paramLabel = "KEY=VALUE",
            description = "An argument for the planned model, such as memplan.workers=4.")
    private Map<String, String> arguments = new LinkedHashMap<>();

    /** The name for people, if it is not the model's. */
    @Option(names = "--title", hidden = true)
    private String title;

    @Mixin private RunEffort effort = new RunEffort();

    /** For picocli. */
    RunOptions() {}

    /** Creates the options of a command that has only the effort options. */
    static RunOptions of(String model, RunEffort effort, CommandSpec spec) {
        RunOptions options = new RunOptions();
        options.spec = spec;
        options.model = model;
        options.effort = effort;
        return options;
    }

    /** Creates and checks the options of a model that runs in planned memory. */
    static RunOptions of(String model, List<InputSpec> inputs, CommandSpec spec) {
        RunOptions options = of(model, new RunEffort(), spec);
        options.inputs = inputs;
        options.check(false, true);
        return options;
    }

    private RunOptions copy() {
        RunOptions options = of(model, effort, spec);
        options.title = title;
        options.engine = engine;
        options.inputs = inputs;
        options.arguments = new LinkedHashMap<>(arguments);
        return options;
    }

    /** Returns these options with one more argument, unless it is already given. */
    RunOptions with(org.djlplan.memplan.spi.Option key, String value) {
        RunOptions options = copy();
        options.arguments.putIfAbsent(key.key(), value);
        return options;
    }

    /** Returns these options, but with delegation measured while the model is loaded. */
    RunOptions measuring() {
        return with(DelegationKey.PROFILE, "blocking");
    }

    /** Returns these options with another number of timed predictions. */
    RunOptions withIterations(int number) {
        RunOptions options = copy();
        options.effort = effort.withIterations(number);
        return options;
    }

    /** Returns these options with a name of the model for people. */
    RunOptions named(String name) {
        RunOptions options = copy();
        options.title = name;
        return options;
    }

    /** Returns the accepted difference of delegated outputs, if the user sets it. */
    Limit limit() {
        // A value that is not a number is "auto", or an error when the model is loaded.
        Double given =
                Doubles.tryParse(arguments.getOrDefault(DelegationKey.TOLERANCE.key(), "auto"));
        return given == null ? Limit.IDENTICAL : new Limit(given, 1);
    }

    /**
     * Returns whether a model of these options may be delegated, or, if it is a TorchScript model,
     * rewritten.
     */
    boolean mayDelegate() {
        return (engine() == EngineKind.TFLITE || mayBeRewritten())
                && !"false".equalsIgnoreCase(arguments.get(DelegationKey.ENABLED.key()));
    }

    private boolean mayBeRewritten() {
        return engine() == EngineKind.PYTORCH
                && model() instanceof ModelRef.OfFile
                && !arguments.containsKey(OptionKey.BUDGET.key());
    }

    /** Returns whether the user sets any delegation option. */
    boolean mentionsDelegation() {
        return arguments.keySet().stream()
                .anyMatch(key -> key.startsWith(PlanOptions.DELEGATION_PREFIX));
    }

    /** Returns these options for another model with such inputs. */
    RunOptions withModel(String other) {
        RunOptions options = copy();
        options.model = other;
        return options;
    }

    /** Returns these options for another model, for which nothing is measured. */
    RunOptions with(String otherModel, InputSpec input) {
        RunOptions options = copy();
        options.model = otherModel;
        options.inputs = ImmutableList.of(input);
        // There is no stored result for that model.
        List.of(
                        DelegationKey.PROFILE,
                        DelegationKey.PROFILE_FROM,
                        DelegationKey.ON_MISSING,
                        DelegationKey.PRECISION)
                .forEach(key -> options.arguments.remove(key.key()));
        // These run a model more than once, which is an error for blocks that are not DJL's own.
        List.of(OptionKey.VERIFY.key(), OptionKey.WARMUP.key()).forEach(options.arguments::remove);
        // A percentage of the little memory that this model takes would be too small.
        options.arguments.computeIfPresent(
                OptionKey.BUDGET.key(), (key, budget) -> budget + ":best-effort");
        return options;
    }

    /**
     * Returns the model that the user named.
     *
     * @throws ParameterException if there is no network of that name
     */
    ModelRef model() {
        try {
            return ModelRef.parse(model);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /** Returns the name of the model for people, usually as the user named it. */
    String modelName() {
        return title == null ? model : title;
    }

    /** Returns the model, the engine and the threads, for people. */
    String title(String more) {
        return Figures.title(modelName(), engine().engineName(), threads(), more);
    }

    /**
     * Returns the engine to use.
     *
     * @throws ParameterException if it is neither given nor clear from the file's name
     */
    EngineKind engine() {
        if (engine != null) {
            return engine;
        }
        return model().engine()
                .orElseThrow(
                        () ->
                                new ParameterException(
                                        spec.commandLine(),
                                        "the name of "
                                                + model
                                                + " does not show the engine: use --engine"));
    }

    ImmutableList<InputSpec> inputs() {
        return ImmutableList.copyOf(inputs);
    }

    ImmutableMap<String, String> arguments() {
        return ImmutableMap.copyOf(arguments);
    }

    OptionalInt threads() {
        return effort.threads();
    }

    RunEffort effort() {
        return effort;
    }

    /**
     * Checks everything that can be checked without an engine, and completes the inputs.
     *
     * @param stock whether the model is run (also) without a plan
     * @param planned whether the model is run (also) planned
     * @throws ParameterException for options that contradict each other or the model
     * @throws Failure if the model cannot be read
     */
    void check(boolean stock, boolean planned) {
        ModelRef ref = model();
        EngineKind kind = engine();
        try {
            if (ref instanceof ModelRef.OfFile file && kind == EngineKind.TFLITE) {
                completeTfLite(file.readable(), stock);
            } else {
                if (ref instanceof ModelRef.OfFile file) {
                    Path unused = file.readable();
                }
                checkArgument(
                        kind == EngineKind.PYTORCH || ref instanceof ModelRef.OfFile,
                        "blocks run on PyTorch, not on %s",
                        kind);
                inputs =
                        kind == EngineKind.ONNX_RUNTIME && ref instanceof ModelRef.OfFile file
                                ? OnnxInputs.complete(file.readable(), inputs)
                                : ref.complete(inputs);
            }
            if (planned) {
                PlannedLoading.check(PlannedLoading.arguments(this, RunMode.DELEGATED));
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private void completeTfLite(Path file, boolean stock) {
        List<InputSpec> wanted = InputSpec.OfTfLite.complete(file, inputs);
        checkArgument(
                !stock
                        || threads().isPresent()
                        || !Runner.OfInterpreter.exists()
                        || InputSpec.OfTfLite.areAsInFile(file, wanted),
                "stock DJL runs this model with the shapes in its file only, not %s",
                InputSpec.texts(wanted));
        inputs = wanted;
    }

    /** Returns the command line that passes these options to another process. */
    ImmutableList<String> toArguments() {
        ImmutableList.Builder<String> line = ImmutableList.builder();
        line.add("--engine", engine().engineName());
        inputs.forEach(input -> line.add("--input-shape", input.text()));
        arguments.forEach((key, value) -> line.add("-o", key + "=" + value));
        line.add("--title", modelName()).addAll(effort.toArguments());
        return line.add("--", model().text()).build();
    }
}
