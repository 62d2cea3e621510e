package org.djlplan.integration.examples;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * An encoder of texts made for the examples.
 *
 * @param folder has its TorchScript file and its tokenizer
 */
record Encoder(Path folder) {

    private static final Path MODEL =
            Path.of("..", "src", "test", "resources", "torchscript", "text_states.pt");

    private static final String TOKENIZER =
            """
            {
              "version": "1.0",
              "added_tokens": [],
              "pre_tokenizer": {"type": "Whitespace"},
              "model": {
                "type": "WordLevel",
                "unk_token": "[UNK]",
                "vocab": {"[PAD]": 0, "[UNK]": 1, "memory": 2, "of": 3, "a": 4, "model": 5}
              }
            }
            """;

    private static final int MOST_WORDS = 30;

    /** Writes the encoder into a folder. */
    static Encoder in(Path folder) throws IOException {
        Files.copy(MODEL, folder.resolve(folder.getFileName() + ".pt"));
        Files.writeString(folder.resolve("tokenizer.json"), TOKENIZER);
        return new Encoder(folder);
    }

    /** Returns texts of many lengths. */
    static List<String> texts(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "memory of a model ".repeat(1 + i * 7 % MOST_WORDS).strip())
                .toList();
    }

    /** Returns the stock engine's embeddings, each of a text alone. */
    List<float[]> embeddings(List<String> texts) throws Exception {
        Criteria<String, float[]> criteria =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        .optTranslatorFactory(new TextEmbeddingTranslatorFactory())
                        .build();
        List<float[]> embeddings = new ArrayList<>();
        try (ZooModel<String, float[]> stock = criteria.loadModel();
                Predictor<String, float[]> predictor = stock.newPredictor()) {
            for (String text : texts) {
                embeddings.add(predictor.predict(text));
            }
        }
        return embeddings;
    }

    /** Returns the cosine of the angle between two embeddings. */
    static double cosine(float[] a, float[] b) {
        double product = 0;
        double ofA = 0;
        double ofB = 0;
        for (int i = 0; i < a.length; i++) {
            product += a[i] * b[i];
            ofA += a[i] * a[i];
            ofB += b[i] * b[i];
        }
        return product / Math.sqrt(ofA * ofB);
    }
}
