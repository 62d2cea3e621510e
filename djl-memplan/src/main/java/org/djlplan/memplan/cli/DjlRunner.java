package org.djlplan.memplan.cli;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import com.google.common.collect.ImmutableMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.memplan.report.PlanReport;

/**
 * A model in DJL: arrays in and arrays out.
 *
 * <p>The inputs are made once. On PyTorch each prediction gets a manager, as a translator's context
 * is: DJL keeps everything that a block makes until the manager of its inputs is closed.
 */
final class DjlRunner implements Runner {

    private final ArraysModel model;
    private final NDManager manager;
    private final NDList inputs;
    private final boolean managerPerPrediction;

    private DjlRunner(ArraysModel model, List<ModelInput> inputs, EngineKind engine) {
        this.model = model;
        this.managerPerPrediction = engine == EngineKind.PYTORCH;
        this.manager = model.model().getNDManager().newSubManager();
        this.inputs = new NDList();
        for (ModelInput input : inputs) {
            this.inputs.add(manager.create(input.values(), input.shape(), input.type()));
        }
    }

    /** Loads the model as DJL does without this project. */
    static DjlRunner loadStock(RunOptions options, List<ModelInput> inputs) {
        return new DjlRunner(
                ArraysModel.load(options, ArraysModel.stockFactory(), Map.of()),
                inputs,
                options.engine());
    }

    /** Loads the model planned, or delegated as well, with the user's arguments. */
    static DjlRunner loadPlanned(RunOptions options, Way way, List<ModelInput> inputs) {
        ImmutableMap<String, String> arguments = PlannedLoading.arguments(options, way);
        Optional<Progress> progress =
                way == Way.DELEGATED && PlannedLoading.knowsDelegation()
                        ? Optional.of(new ProgressLines(System.err))
                        : Optional.empty();
        return new DjlRunner(
                ArraysModel.load(
                        options,
                        PlannedLoading.translatorFactory(arguments, progress),
                        PlannedLoading.othersArguments(arguments)),
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
            if (managerPerPrediction) {
                // Closing it closes the outputs and gives the inputs, which may be outputs, back.
                try (NDManager call = manager.newSubManager()) {
                    call.tempAttachAll(inputs);
                    reader.accept(model.predictor().predict(inputs));
                }
            } else {
                try (NDList outputs = model.predictor().predict(inputs)) {
                    reader.accept(outputs);
                }
            }
        } catch (TranslateException e) {
            throw new Failure("the prediction failed", e);
        }
    }

    @Override
    public Optional<PlanReport> report() {
        return PlanReport.of(model.model());
    }

    @Override
    public void close() {
        model.close();
    }
}
