package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** Padding changes the last digits. */
    private static final float TOLERANCE = 1e-5f;

    @TempDir Path folder;

    private static List<float[]> post(URI uri) {
        List<CompletableFuture<float[]>> answers = new ArrayList<>();
        for (String text : Encoder.texts(TEXTS)) {
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
        List<float[]> expected = Encoder.in(folder).embeddings(Encoder.texts(TEXTS));
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
