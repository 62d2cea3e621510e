package org.djlplan.cli;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Predicts the memory of a TorchScript model for shapes that are not run. */
final class ShapeForecast implements AutoCloseable {

    /** The form in which commands take shapes to predict. */
    static final String LEARN_LABEL = "D,D,…[:TYPE];…";

    /** The description of that option in commands. */
    static final String LEARN =
            "Inputs of one prediction of a TorchScript model that may be run, with zeros, to know"
                    + " of shapes that are not; may be repeated.";

    private final ZooModel<NDList, NDList> model;
    private final PlanHandle plan;

    private ShapeForecast(ZooModel<NDList, NDList> model) {
        this.model = model;
        plan =
                PlanHandle.of(model)
                        .filter(handle -> handle.report().planned())
                        .orElseThrow(() -> new Failure("the model is not planned here"));
    }

    /**
     * Loads a model.
     *
     * @throws Failure if loading fails
     */
    static ShapeForecast load(Path file) {
        try {
            return new ShapeForecast(
                    Criteria.builder()
                            .setTypes(NDList.class, NDList.class)
                            .optModelPath(file)
                            .optEngine(EngineKind.PYTORCH.engineName())
                            .optTranslatorFactory(new PlannedTranslatorFactory())
                            .build()
                            .loadModel());
        } catch (IOException | ModelNotFoundException | MalformedModelException e) {
            throw Failure.toLoad(e);
        }
    }

    /**
     * Returns the most bytes that a prediction's tensors take at once.
     *
     * @param inputs of one prediction
     * @param learn shapes that may be predicted, one after another, until the result is known
     * @throws Failure if it is unknown even then
     */
    long bytes(String inputs, List<String> learn) {
        OptionalLong bytes = bytes(inputs);
        for (int i = 0; i < learn.size() && bytes.isEmpty(); i++) {
            try {
                plan.warmUp(learn.get(i));
            } catch (TranslateException | IllegalArgumentException e) {
                throw new Failure("cannot predict " + learn.get(i), e);
            }
            bytes = bytes(inputs);
        }
        return bytes.orElseThrow(
                () ->
                        new Failure(
                                "the known shapes of this model do not determine "
                                        + inputs
                                        + ": name shapes to predict, mostly three or four that"
                                        + " differ in each dimension, such as --learn 2,16:int64"
                                        + " --learn 3,40:int64 --learn 5,25:int64"));
    }

    private OptionalLong bytes(String inputs) {
        try {
            return plan.bytesFor(inputs);
        } catch (IllegalArgumentException e) {
            throw new Failure(e.getMessage());
        }
    }

    /** Returns the inputs of one prediction as one text. */
    static String text(List<InputSpec> inputs) {
        return String.join(";", inputs.stream().map(InputSpec::text).toList());
    }

    @Override
    public void close() {
        model.close();
    }
}
