package org.djlplan.integration.budget;

import ai.djl.ndarray.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;

/** Random inputs of models. */
public final class Inputs {

    private static final int WORDS = 30_522;
    private static final int TOKENS = 128;

    private Inputs() {}

    /** Returns inputs of a model, with the shapes that its file or its name states. */
    public static ModelInputs of(Path file) throws IOException, TfLiteFormatException {
        if (!Contestant.isTorch(file)) {
            TfLiteFile model = TfLiteReader.read(file);
            return ModelInputs.floats(
                    model.main().inputs().stream()
                            .map(input -> shape(model.main().tensors().get(input).shape()))
                            .toArray(long[][]::new));
        }
        return switch (file.getFileName().toString()) {
            case "bert_base.pt" -> new ModelInputs(List.of()).and(DataType.INT64, WORDS, 1, TOKENS);
            case "cnn.pt" -> ModelInputs.floats(new long[] {1, 3, 32, 32});
            default -> ModelInputs.floats(new long[] {1, 3, 224, 224});
        };
    }

    private static long[] shape(List<Integer> dimensions) {
        return dimensions.stream().mapToLong(Integer::longValue).toArray();
    }
}
