package org.djlplan.integration.limits;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Map;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Predicts with a block that counts its passes, with {@code memplan.liveness=op}. */
public final class CountingApplication {

    private static final int PREDICTIONS = 5;

    private CountingApplication() {}

    private static final class Counting extends AbstractBlock {

        private int passes;

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            passes++;
            NDArray sum = inputs.head().add(1).mul(2);
            return new NDList(sum.concat(inputs.head()).mul(passes).sum());
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    /** Prints the outputs and the number of passes. */
    public static void main(String[] arguments) throws Exception {
        Counting block = new Counting();
        StringBuilder answers = new StringBuilder();
        try (Model model = Model.newInstance("counting", "PyTorch")) {
            model.setBlock(block);
            try (Predictor<NDList, NDList> predictor =
                            model.newPredictor(
                                    new PlannedTranslatorFactory()
                                            .newInstance(
                                                    NDList.class,
                                                    NDList.class,
                                                    model,
                                                    Map.of("memplan.liveness", "op")));
                    NDManager manager = NDManager.newBaseManager("PyTorch")) {
                for (int call = 0; call < PREDICTIONS; call++) {
                    NDList outputs = predictor.predict(new NDList(manager.ones(new Shape(2))));
                    answers.append((int) outputs.head().getFloat()).append(' ');
                }
            }
        }
        System.out.println(answers + "in " + block.passes);
    }
}
