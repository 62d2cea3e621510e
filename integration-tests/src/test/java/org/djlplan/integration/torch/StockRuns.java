package org.djlplan.integration.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;

/** What every file must do in the stock engine, for the tests to rest on. */
public final class StockRuns {

    private static final int SEEDS = 3;

    private StockRuns() {}

    /** Asserts that the model loads, runs with all inputs, and answers in the same way twice. */
    public static void check(TorchScriptModel model) throws Exception {
        for (ModelInputs inputs : model.inputSets()) {
            List<List<Output>> first = run(model, inputs);
            assertEquals(first, run(model, inputs), model.name());
            assertFalse(first.get(0).isEmpty(), model.name());
            assertEquals(!model.stateful(), first.get(0).equals(first.get(SEEDS)), model.name());
            assertNotEquals(first.get(0), first.get(1), model.name());
        }
    }

    /** Runs the inputs of several seeds, and the first again at the end. */
    private static List<List<Output>> run(TorchScriptModel model, ModelInputs inputs)
            throws Exception {
        List<List<Output>> all = new ArrayList<>();
        try (ZooModel<NDList, NDList> loaded = model.loadStock();
                Predictor<NDList, NDList> predictor = loaded.newPredictor()) {
            for (int i = 0; i <= SEEDS; i++) {
                try (NDManager manager = loaded.getNDManager().newSubManager();
                        NDList outputs = predictor.predict(inputs.create(manager, i % SEEDS))) {
                    all.add(Output.copyOf(outputs));
                }
            }
        }
        return all;
    }
}
