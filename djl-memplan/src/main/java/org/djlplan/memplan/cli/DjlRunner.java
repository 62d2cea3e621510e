package org.djlplan.memplan.cli;

import ai.djl.MalformedModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.memplan.report.PlanReport;

/** A model in DJL: loaded by criteria, arrays in and arrays out. */
final class DjlRunner implements Runner {

    private final ZooModel<NDList, NDList> model;
    private final Predictor<NDList, NDList> predictor;
    private final NDList inputs;

    private DjlRunner(ZooModel<NDList, NDList> model, List<ModelInput> inputs) {
        this.model = model;
        this.predictor = model.newPredictor();
        NDManager manager = model.getNDManager().newSubManager();
        this.inputs = new NDList();
        for (ModelInput input : inputs) {
            this.inputs.add(manager.create(input.values(), input.shape(), input.type()));
        }
    }

    /** Loads the model as DJL does without this project. */
    static DjlRunner loadStock(RunOptions options, List<ModelInput> inputs) {
        return new DjlRunner(load(criteria(options)), inputs);
    }

    /** Loads the model planned, with the user's arguments. */
    static DjlRunner loadPlanned(RunOptions options, List<ModelInput> inputs) {
        Criteria.Builder<NDList, NDList> criteria =
                criteria(options).optTranslatorFactory(PlannedLoading.translatorFactory());
        PlannedLoading.arguments(options).forEach(criteria::optArgument);
        return new DjlRunner(load(criteria), inputs);
    }

    private static Criteria.Builder<NDList, NDList> criteria(RunOptions options) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(options.model())
                .optEngine(options.engine().engineName());
    }

    private static ZooModel<NDList, NDList> load(Criteria.Builder<NDList, NDList> criteria) {
        try {
            return criteria.build().loadModel();
        } catch (IOException | ModelNotFoundException | MalformedModelException e) {
            throw new Failure("cannot load the model", e);
        }
    }

    @Override
    public void run() {
        run((type, values) -> {});
    }

    @Override
    public void run(OutputSink sink) {
        try (NDList outputs = predictor.predict(inputs)) {
            for (NDArray output : outputs) {
                sink.accept(
                        output.getDataType().name().toLowerCase(Locale.ROOT),
                        output.toByteBuffer());
            }
        } catch (TranslateException e) {
            throw new Failure("the prediction failed", e);
        }
    }

    @Override
    public Optional<PlanReport> report() {
        return PlanReport.of(model);
    }

    @Override
    public void close() {
        predictor.close();
        model.close();
    }
}
