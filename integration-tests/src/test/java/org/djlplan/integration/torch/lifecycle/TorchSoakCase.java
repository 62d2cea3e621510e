package org.djlplan.integration.torch.lifecycle;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;

/**
 * One of the {@link TorchScriptModels}, and the stock engine's outputs with one thread per
 * operator.
 *
 * @param file a file in a folder of its own
 * @param questions inputs, each with the outputs for a few seeds
 */
record TorchSoakCase(String name, Path file, List<Question> questions) {

    private static final int SEEDS = 4;

    /**
     * Inputs and outputs.
     *
     * @param answers the outputs by seed
     */
    record Question(ModelInputs inputs, List<List<Output>> answers) {}

    /**
     * Copies the models whose outputs depend on the inputs alone, and runs them in the stock
     * engine.
     */
    static List<TorchSoakCase> prepare(Path folder) throws Exception {
        List<TorchSoakCase> cases = new ArrayList<>();
        for (TorchScriptModel model : TorchScriptModels.stateless()) {
            Path file = Torch.copy(model, folder);
            try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                    Predictor<NDList, NDList> predictor = stock.newPredictor()) {
                List<Question> questions = new ArrayList<>();
                for (ModelInputs inputs : model.inputSets()) {
                    List<List<Output>> answers = new ArrayList<>();
                    for (int seed = 0; seed < SEEDS; seed++) {
                        answers.add(Torch.predict(predictor, inputs, seed));
                    }
                    questions.add(new Question(inputs, answers));
                }
                cases.add(new TorchSoakCase(model.name(), file, questions));
            }
        }
        return cases;
    }

    /**
     * Loads the model planned, but not through criteria. Criteria of DJL 0.27.0 leave four
     * directories open per load, which would hide whether closing frees everything.
     */
    ZooModel<NDList, NDList> load(Map<String, ?> arguments) throws Exception {
        Model model = Model.newInstance(name, "PyTorch");
        model.load(file.getParent(), name);
        return new ZooModel<>(
                model,
                Planned.factory(arguments)
                        .newInstance(
                                NDList.class, NDList.class, model, Planned.arguments(arguments)));
    }
}
