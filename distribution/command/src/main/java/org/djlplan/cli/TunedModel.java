package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.ModelDelegation;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Lists;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The model that {@code djlplan tune} measures: its options, and how it is opened. */
final class TunedModel {

    /** The smallest share of changes that predictions of one shape are counted with. */
    private static final double RARELY = 1.0 / 16;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = "The model's file (.tflite or TorchScript, .pt).")
    private ModelRef model;

    @Option(
            names = "--delegate",
            paramLabel = "NAME",
            description =
                    "xnnpack or xnnpack-transient; the file of a library with TensorFlow Lite's"
                            + " external delegate interface; or class:NAME, a DelegateFactory on the"
                            + " class path (default: xnnpack).")
    private Optional<String> delegate = Optional.empty();

    @Option(
            names = "--input-shape",
            paramLabel = "D,D,…[:TYPE]",
            description =
                    "Measure at this shape instead of the one in the file, once per input; required"
                            + " if the shapes in the file are placeholders. Given again for each input,"
                            + " up to three times: the result of three shapes serves all that they"
                            + " enclose. Loads with delegation.enabled=every-shape use it. For a"
                            + " TorchScript model required, once per input, with a type such as int64"
                            + " unless it is float32.")
    private List<InputSpec> shapes = new ArrayList<>();

    /** For picocli. */
    TunedModel() {}

    /** Returns the value of {@code delegation.delegate}, if it is given. */
    Optional<String> delegate() {
        return delegate;
    }

    boolean hasShapes() {
        return !shapes.isEmpty();
    }

    /** Returns whether it is a TorchScript model, by its name. */
    boolean isTorchScript() {
        return engine() == EngineKind.PYTORCH;
    }

    private EngineKind engine() {
        return model instanceof ModelRef.OfFile
                ? model.engine().orElse(EngineKind.ONNX_RUNTIME)
                : EngineKind.ONNX_RUNTIME;
    }

    /**
     * Returns the model's file.
     *
     * @throws ParameterException if it is of another engine, or has no delegate
     * @throws Failure if the file cannot be read
     */
    Path file() {
        if (model instanceof ModelRef.OfFile of
                && (engine() == EngineKind.TFLITE || (isTorchScript() && delegate.isEmpty()))) {
            return of.readable();
        }
        throw wrong(
                "'%s': only TensorFlow Lite models (.tflite) have a delegate"
                        .formatted(model.text()));
    }

    /** Returns its graph, which has only the model's name if it is a TorchScript model. */
    Graph graph() throws IOException {
        return isTorchScript()
                ? new Graph(
                        file().getFileName().toString(), List.of(), List.of(), List.of(), List.of())
                : PlannedLoading.readFile(file());
    }

    /**
     * Returns the shapes to measure at; empty for those in the file.
     *
     * @throws ParameterException if they do not fit the model's inputs
     */
    Optional<ShapeMix> mix(Graph graph) {
        if (shapes.isEmpty() || isTorchScript()) {
            return Optional.empty();
        }
        List<List<Integer>> inFile = shapesInFile(graph);
        if (inFile.isEmpty() || shapes.size() % inFile.size() != 0) {
            throw wrong("--input-shape: the model has %d inputs".formatted(inFile.size()));
        }
        List<List<List<Integer>>> all =
                Lists.partition(InputSpec.OfTfLite.dimensions(shapes), inFile.size());
        if (all.size() > ShapeMix.MOST) {
            throw wrong("--input-shape: at most %d for each input".formatted(ShapeMix.MOST));
        }
        for (List<List<Integer>> each : all) {
            for (int i = 0; i < each.size(); i++) {
                if (each.get(i).size() != inFile.get(i).size()) {
                    throw wrong(
                            "--input-shape: input %d is %s in the file, which %s does not fit"
                                    .formatted(i, inFile.get(i), each.get(i)));
                }
            }
        }
        if (ImmutableSet.copyOf(all).size() < all.size()) {
            throw wrong("--input-shape: the same shapes twice");
        }
        return all.equals(List.of(inFile))
                ? Optional.empty()
                : Optional.of(new ShapeMix(all, all.size() == 1 ? RARELY : 1));
    }

    private static List<List<Integer>> shapesInFile(Graph graph) {
        return graph.inputs().stream().map(id -> graph.tensors().get(id).shape()).toList();
    }

    /**
     * Loads the engine and returns the model, which runs as models loaded with these options do.
     *
     * @param mix other shapes to measure at; empty for those in the file
     * @throws IOException if the file cannot be read or is not a model
     * @throws Failure if the engine is not available, cannot allocate the model for the shapes in
     *     its file, or delegates no other shapes
     */
    DelegableModel open(PlanOptions options, Optional<ShapeMix> mix) throws IOException {
        if (isTorchScript() && shapes.isEmpty()) {
            throw wrong("--input-shape: is required, once per input, for a TorchScript model");
        }
        try {
            engine().load();
            return isTorchScript()
                    ? torchScript(file(), shapes, OptionalInt.empty())
                    : openTfLite(options, mix);
        } catch (EngineException | UnplannableException | IllegalArgumentException e) {
            throw new Failure("%s cannot be measured".formatted(model.text()), e);
        }
    }

    private TfLiteDelegableModel openTfLite(PlanOptions options, Optional<ShapeMix> mix)
            throws IOException, UnplannableException {
        try (OpenModel open = OpenModel.of(file())) {
            TfLiteDelegableModel measured = ModelDelegation.measurable(file(), options);
            if (mix.isEmpty()) {
                checkArgument(
                        !open.waitsForShapes(),
                        "the shapes in the file are placeholders of %s: give --input-shape",
                        open.inputSignatures());
                return measured;
            }
            checkArgument(
                    measured.isMeasurableAtOtherShapes(),
                    "TensorFlow Lite %s with %s delegates no other shapes than those in the file:"
                            + " other shapes need XNNPACK and TensorFlow Lite 2.20 or later",
                    measured.library().version(),
                    measured.delegate());
            checkArgument(
                    !open.keepsState(),
                    "the model keeps state: such a model is not delegated at other shapes");
            for (List<List<Integer>> wanted : mix.get().shapes()) {
                List<List<Integer>> effective =
                        InputShapes.effective(
                                open.inputsBeforeShapes(),
                                shapesInFile(open.graph()),
                                open.inputSignatures(),
                                wanted);
                checkArgument(
                        effective.equals(wanted), "inputs of %s are run as %s", wanted, effective);
            }
            return measured.at(mix.get());
        }
    }

    /**
     * Returns a TorchScript model with random inputs.
     *
     * @param threads of the engine; empty for those that a setting of the JVM has
     * @throws Failure if the engine cannot measure it
     */
    static TorchDelegableModel torchScript(Path file, List<InputSpec> shapes, OptionalInt threads) {
        Engine engine = Engine.getEngine(EngineKind.PYTORCH.engineName());
        TorchAllocator.attach(engine.getVersion())
                .ifPresent(
                        problem -> {
                            throw new Failure(problem);
                        });
        Random random = new Random(1);
        List<SampleInputs> compared =
                Stream.generate(() -> sample(shapes, random))
                        .limit(SampledRequests.LEAST_COMPARED)
                        .toList();
        return new TorchDelegableModel(
                file,
                FileIdentity.text(file),
                CacheFolder.get(),
                threads.orElseGet(TorchSettings::threadsBySetting),
                engine.getVersion(),
                new SampledRequests(List.of(new Frequent(compared.get(0), 1)), compared));
    }

    private static SampleInputs sample(List<InputSpec> shapes, Random random) {
        List<ModelInput> inputs = ModelInput.allocate(shapes);
        inputs.forEach(input -> input.fill(random));
        return new SampleInputs(
                shapes.stream().map(PlannedLoading::type).toList(),
                Collections.nCopies(shapes.size(), ""),
                inputs.stream().map(ModelInput::values).toList());
    }

    private ParameterException wrong(String why) {
        return new ParameterException(spec.commandLine(), why);
    }
}
