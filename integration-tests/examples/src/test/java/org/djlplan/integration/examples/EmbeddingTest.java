package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.Gson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Posts texts of many lengths at once to two servers: one embeds them one by one, the other embeds
 * all waiting texts in a batch.
 */
@Tag("examples")
@Tag("pytorch")
class EmbeddingTest {

    private static final int TEXTS = 48;
    private static final int MOST_WORDS = 30;

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Padding changes the last digits. */
    private static final float TOLERANCE = 1e-5f;

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

    @TempDir Path folder;

    @BeforeEach
    void write() throws Exception {
        Files.copy(MODEL, folder.resolve(folder.getFileName() + ".pt"));
        Files.writeString(folder.resolve("tokenizer.json"), TOKENIZER);
    }

    private static List<String> texts() {
        return IntStream.range(0, TEXTS)
                .mapToObj(i -> "memory of a model ".repeat(1 + i * 7 % MOST_WORDS).strip())
                .toList();
    }

    private List<float[]> expected() throws Exception {
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
            for (String text : texts()) {
                embeddings.add(predictor.predict(text));
            }
        }
        return embeddings;
    }

    private static List<float[]> post(URI uri) {
        List<CompletableFuture<float[]>> answers = new ArrayList<>();
        for (String text : texts()) {
            HttpRequest request =
                    HttpRequest.newBuilder(uri)
                            .header("Content-Type", "text/plain")
                            .POST(HttpRequest.BodyPublishers.ofString(text))
                            .build();
            answers.add(
                    CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                            .thenApply(
                                    answer -> new Gson().fromJson(answer.body(), float[].class)));
        }
        return answers.stream().map(CompletableFuture::join).toList();
    }

    @Test
    void embed_manyTextsAtOnce_answersAsStock() throws Exception {
        List<float[]> expected = expected();
        try (ExampleProcess application =
                new ExampleProcess(
                        "embedding",
                        List.of("-Dai.djl.pytorch.num_threads=1"),
                        List.of("--server.port=0", "--embedding.model=" + folder))) {
            String address = application.address();
            Actuator actuator = new Actuator(CLIENT, address);

            List<float[]> single = post(URI.create(address + "/embed"));
            double passes = passes(actuator);
            List<float[]> batched = post(URI.create(address + "/embed-batched"));
            double batches = passes(actuator) - passes;

            for (int i = 0; i < TEXTS; i++) {
                assertArrayEquals(expected.get(i), single.get(i), TOLERANCE, "text " + i);
                assertArrayEquals(expected.get(i), batched.get(i), TOLERANCE, "text " + i);
            }
            assertEquals(TEXTS, passes);
            assertTrue(batches >= 3 && batches <= TEXTS, batches + " batches");
            assertTrue(actuator.metric("djlplan.arenas.bytes") > 0, application::printed);
        }
    }

    private static double passes(Actuator actuator) throws Exception {
        return actuator.metric("djlplan.predictions?tag=planned:true");
    }
}
