package org.djlplan.integration.onnxruntime;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Predicts with a small, a much too large, and again a small image under a memory limit. */
final class OrtNoMemoryProgram {

    private static final int LARGE = 3500;
    private static final int SMALL = 64;

    private OrtNoMemoryProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path file = OrtModels.detector(Path.of(arguments[0]));
        List<ByteBuffer> expected;
        try (ZooModel<NDList, NDList> stock = OrtModels.stock(file)) {
            expected = predict(stock, SMALL);
        }
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            for (int side : new int[] {SMALL, LARGE, SMALL}) {
                String how;
                try {
                    how = predict(model, side).equals(expected) ? "same" : "different";
                } catch (TranslateException e) {
                    how = "failed";
                }
                System.out.println(how);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model, int side)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            return OrtModels.bytes(predictor.predict(OrtModels.image(manager, side)));
        }
    }
}
