package org.djlplan.cli;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.tflite.engine.TfLiteDataType;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.djl.ModelHandle;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/** A loaded model that runs on the current values of its inputs. */
sealed interface Runner extends AutoCloseable {

    /**
     * Loads a model.
     *
     * @param mode stock with a number of threads means TensorFlow Lite without DJL, if the engine
     *     is DJL's own
     * @throws Failure if loading fails
     */
    static Runner load(RunOptions options, RunMode mode, List<ModelInput> inputs) {
        if (mode != RunMode.STOCK) {
            return OfDjl.loadPlanned(options, mode, inputs);
        }
        if (options.model() instanceof ModelRef.OfFile file
                && options.engine() == EngineKind.TFLITE
                && options.threads().isPresent()
                && OfInterpreter.exists()) {
            return OfInterpreter.load(file.readable(), options.threads().getAsInt(), inputs);
        }
        return OfDjl.loadStock(options, inputs);
    }

    /** Receives the outputs of one prediction, one after another. */
    @FunctionalInterface
    interface OutputSink {
        /**
         * Receives one output.
         *
         * @param type element type as DJL names it, in lower case
         * @param values valid only during the call: stock outputs lie in memory that the next
         *     prediction overwrites
         */
        void accept(String type, ByteBuffer values);
    }

    /** Runs once and discards the outputs unread. */
    void run();

    /** Runs once and passes every output to {@code sink}. */
    void run(OutputSink sink);

    /**
     * Returns a runner that another thread can use at the same time: of the same model, if it
     * serves several threads, otherwise of a model loaded in addition. It must be closed before
     * this runner.
     *
     * @param options with which this runner was loaded
     * @param mode in which this runner was loaded
     * @param inputs whose values both runners read
     */
    default Runner another(RunOptions options, RunMode mode, List<ModelInput> inputs) {
        return load(options, mode, inputs);
    }

    /** Returns the plan report, or empty if the model was loaded without a plan. */
    Optional<PlanReport> report();

    /**
     * Returns a plan of the allocations of one more prediction, which is recorded for this; the
     * plan is not used. Empty for TensorFlow Lite.
     */
    default Optional<EvaluatedPlan> placedAllocations() {
        return Optional.empty();
    }

    /** Returns which weights are in memory at which time; empty if all are always in memory. */
    default Optional<ResidentWeights> residentWeights() {
        return Optional.empty();
    }

    /** Frees the model. */
    @Override
    void close();

    /**
     * A TensorFlow Lite interpreter without DJL and without a delegate. This is the only way to set
     * the number of threads for DJL's own engine, because DJL has no setting for it.
     */
    static final class OfInterpreter implements Runner {

        private final Interpreter interpreter;
        private final Object[] inputs;

        private OfInterpreter(Interpreter interpreter, List<ModelInput> inputs) {
            this.interpreter = interpreter;
            this.inputs = inputs.stream().map(ModelInput::values).toArray();
        }

        /** Returns whether DJL's own engine, which contains this class, is on the class path. */
        static boolean exists() {
            try {
                Class<?> unused =
                        Class.forName(
                                "org.tensorflow.lite.Interpreter",
                                false,
                                Runner.class.getClassLoader());
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            }
        }

        /** Loads the model for the shapes of {@code inputs}. */
        static OfInterpreter load(Path model, int threads, List<ModelInput> inputs) {
            Interpreter interpreter =
                    new Interpreter(
                            model.toFile(), new Interpreter.Options().setNumThreads(threads));
            for (int i = 0; i < inputs.size(); i++) {
                int[] shape = InputSpec.OfTfLite.dimensions(inputs.get(i).shape());
                if (!Arrays.equals(shape, interpreter.getInputTensor(i).shape())) {
                    interpreter.resizeInput(i, shape);
                }
            }
            return new OfInterpreter(interpreter, inputs);
        }

        @Override
        public void run() {
            // No output is copied, because DJL also reads the interpreter's own tensors.
            Map<Integer, Object> noOutputs = ImmutableMap.of();
            interpreter.runForMultipleInputsOutputs(inputs, noOutputs);
        }

        @Override
        public void run(OutputSink sink) {
            run();
            for (int i = 0; i < interpreter.getOutputTensorCount(); i++) {
                Tensor output = interpreter.getOutputTensor(i);
                sink.accept(
                        TfLiteDataType.fromTf(output.dataType()).name().toLowerCase(Locale.ROOT),
                        output.asReadOnlyBuffer());
            }
        }

        @Override
        public Optional<PlanReport> report() {
            return Optional.empty();
        }

        @Override
        public void close() {
            interpreter.close();
        }
    }

    /**
     * A model in DJL that takes and returns arrays.
     *
     * <p>The inputs are created once. On other engines than TensorFlow Lite each prediction gets
     * its own manager, like a translator's context, because DJL keeps all arrays of a block until
     * the manager of its inputs is closed.
     */
    static final class OfDjl implements Runner {

        private final ArraysModel model;
        private final Predictor<NDList, NDList> predictor;
        private final boolean owner;
        private final NDManager manager;
        private final NDList inputs;
        private final EngineKind engine;

        /**
         * @param owner whether closing this runner closes the model
         */
        private OfDjl(
                ArraysModel model, boolean owner, List<ModelInput> inputs, EngineKind engine) {
            this.model = model;
            this.owner = owner;
            this.engine = engine;
            this.predictor = model.predictors().get();
            this.manager = model.model().getNDManager().newSubManager();
            this.inputs = new NDList();
            for (ModelInput input : inputs) {
                this.inputs.add(manager.create(input.values(), input.shape(), input.type()));
            }
        }

        /**
         * If a file has placeholder shapes, the engine cannot allocate the model, and the block
         * describes open dimensions.
         */
        private static ArraysModel withShapes(ArraysModel loaded, RunOptions options) {
            // DJL's own engine cannot load such files or describe their inputs.
            if (options.engine() == EngineKind.TFLITE
                    && !OfInterpreter.exists()
                    && options.model() instanceof ModelRef.OfFile file
                    && InputSpec.OfTfLite.areAsInFile(file.readable(), options.inputs())) {
                List<Shape> open =
                        loaded.model().describeInput().values().stream()
                                .filter(shape -> shape.size() < 0)
                                .toList();
                if (!open.isEmpty()) {
                    loaded.model().close();
                    throw new Failure(
                            "the shapes in the file are placeholders of %s: give --input-shape"
                                    .formatted(open));
                }
            }
            return loaded;
        }

        /** Loads the model as DJL does without this project. */
        static OfDjl loadStock(RunOptions options, List<ModelInput> inputs) {
            return new OfDjl(
                    withShapes(
                            ArraysModel.load(options, ArraysModel.stockFactory(), Map.of()),
                            options),
                    true,
                    inputs,
                    options.engine());
        }

        /** Loads the model planned, or delegated as well, with the user's arguments. */
        static OfDjl loadPlanned(RunOptions options, RunMode mode, List<ModelInput> inputs) {
            ImmutableMap<String, String> arguments = PlannedLoading.arguments(options, mode);
            Optional<Progress> progress =
                    mode == RunMode.DELEGATED
                            ? Optional.of(new MeasuringNews(options.modelName()))
                            : Optional.empty();
            return new OfDjl(
                    withShapes(
                            ArraysModel.load(
                                    options,
                                    PlannedLoading.translatorFactory(arguments, progress),
                                    PlannedLoading.othersArguments(arguments)),
                            options),
                    true,
                    inputs,
                    options.engine());
        }

        @Override
        public void run() {
            predict(outputs -> {});
        }

        @Override
        public void run(OutputSink sink) {
            predict(
                    outputs -> {
                        for (NDArray output : outputs) {
                            sink.accept(
                                    output.getDataType().name().toLowerCase(Locale.ROOT),
                                    output.toByteBuffer());
                        }
                    });
        }

        private void predict(Consumer<NDList> reader) {
            try {
                if (engine != EngineKind.TFLITE) {
                    // Closing this manager closes the outputs and returns the inputs, which may be
                    // outputs, to their manager.
                    try (NDManager call = manager.newSubManager()) {
                        call.tempAttachAll(inputs);
                        reader.accept(predictor.predict(inputs));
                    }
                } else {
                    try (NDList outputs = predictor.predict(inputs)) {
                        reader.accept(outputs);
                    }
                }
            } catch (TranslateException e) {
                throw new Failure("the prediction failed", e);
            }
        }

        /**
         * The block of DJL's TensorFlow Lite engine has one interpreter, which serves one thread.
         */
        @Override
        public Runner another(RunOptions options, RunMode mode, List<ModelInput> otherInputs) {
            return mode == RunMode.STOCK && options.engine() == EngineKind.TFLITE
                    ? loadStock(options, otherInputs)
                    : new OfDjl(model, false, otherInputs, engine);
        }

        @Override
        public Optional<PlanReport> report() {
            return PlanReport.of(model.model());
        }

        @Override
        public Optional<EvaluatedPlan> placedAllocations() {
            Optional<ModelHandle> handle = ModelHandle.of(model.model());
            if (engine != EngineKind.TFLITE && handle.isPresent()) {
                handle.get().recordNext();
                run();
            }
            return handle.flatMap(ModelHandle::allocations);
        }

        @Override
        public Optional<ResidentWeights> residentWeights() {
            return ModelHandle.of(model.model()).flatMap(ModelHandle::residentWeights);
        }

        @Override
        public void close() {
            predictor.close();
            if (owner) {
                model.model().close();
            }
        }
    }
}
