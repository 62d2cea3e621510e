package org.djlplan.integration.onnxruntime;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.ProcessSize;

/**
 * Predicts outputs of 100 MB, each of which is held until the next one is there. Prints the peak of
 * the process above its size after loading, in MB.
 */
final class OrtOutputsProgram {

    /** The argument for a planned model. */
    static final String PLANNED = "planned";

    private static final int PREDICTIONS = 12;
    private static final double MEGA = 1e6;

    private OrtOutputsProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        boolean planned = List.of(arguments).contains(PLANNED);
        try (ZooModel<NDList, NDList> model =
                        planned ? OrtModels.planned(file) : OrtModels.stock(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList input = new NDList(manager.ones(new Shape(1, 1)));
            long loaded = ProcessSize.residentBytes();
            NDList held = new NDList();
            for (int i = 0; i < PREDICTIONS; i++) {
                NDList outputs = predictor.predict(input);
                held.close();
                held = outputs;
            }
            System.out.printf("peak %.0f%n", (ProcessSize.peakBytes() - loaded) / MEGA);
        }
        Runtime.getRuntime().halt(0);
    }
}
