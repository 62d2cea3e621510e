package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the examples that search with LangChain4j and Spring AI: they find the texts whose
 * embeddings by the stock engine are closest.
 */
@Tag("examples")
@Tag("pytorch")
class SearchTest {

    private static final int TEXTS = 48;
    private static final int RESULTS = 3;
    private static final String QUESTION = "a model";
    private static final double TOLERANCE = 1e-4;

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final List<String> ONE_THREAD = List.of("-Dai.djl.pytorch.num_threads=1");

    @TempDir Path folder;

    /** Returns the largest cosines of the question's and the texts' embeddings. */
    private static List<Double> expected(Encoder encoder) throws Exception {
        float[] question = encoder.embeddings(List.of(QUESTION)).get(0);
        return encoder.embeddings(Encoder.texts(TEXTS)).stream()
                .map(text -> Encoder.cosine(question, text))
                .sorted(Comparator.reverseOrder())
                .limit(RESULTS)
                .toList();
    }

    private static void assertNear(List<Double> expected, List<Double> found, String printed) {
        assertEquals(RESULTS, found.size(), printed);
        for (int i = 0; i < RESULTS; i++) {
            assertEquals(expected.get(i), found.get(i), TOLERANCE, printed);
        }
    }

    @Test
    void langChain4j_manyLines_findsTheClosest() throws Exception {
        Encoder encoder = Encoder.in(folder);
        Path lines = Files.write(folder.resolve("lines.txt"), Encoder.texts(TEXTS));
        try (ExampleProcess example =
                new ExampleProcess(
                        "langchain4j",
                        ONE_THREAD,
                        List.of(folder.toString(), lines.toString(), "a", "model"))) {
            assertEquals(0, example.exitValue(), example::printed);
            String printed = example.printed();
            List<Double> scores = new ArrayList<>();
            for (String line : printed.lines().toList()) {
                if (line.endsWith("model") && line.matches("[01]\\.\\d+.*")) {
                    // A relevance score is (1 + cosine) / 2.
                    scores.add(2 * Double.parseDouble(line.substring(0, line.indexOf(' '))) - 1);
                }
            }
            assertNear(expected(encoder), scores, printed);
            assertTrue(printed.contains("PyTorch: planned"), printed);
        }
    }

    @Test
    void springAi_manyLines_findsTheClosest() throws Exception {
        Encoder encoder = Encoder.in(folder);
        try (ExampleProcess application =
                new ExampleProcess(
                        "spring-ai",
                        ONE_THREAD,
                        List.of("--server.port=0", "--embedding.model=" + folder))) {
            String address = application.address();
            HttpRequest add =
                    HttpRequest.newBuilder(URI.create(address + "/add"))
                            .header("Content-Type", "text/plain")
                            .POST(
                                    HttpRequest.BodyPublishers.ofString(
                                            String.join("\n", Encoder.texts(TEXTS))))
                            .build();
            assertEquals(
                    200,
                    CLIENT.send(add, HttpResponse.BodyHandlers.ofString()).statusCode(),
                    application::printed);
            HttpRequest search =
                    HttpRequest.newBuilder(URI.create(address + "/search?question=a+model"))
                            .build();
            String answer = CLIENT.send(search, HttpResponse.BodyHandlers.ofString()).body();
            JsonArray found = JsonParser.parseString(answer).getAsJsonArray();
            List<Double> scores = new ArrayList<>();
            for (JsonElement each : found) {
                scores.add(each.getAsJsonObject().get("score").getAsDouble());
            }
            assertNear(expected(encoder), scores, answer);
            assertTrue(
                    new Actuator(CLIENT, address).metric("djlplan.predictions?tag=planned:true")
                            >= 2,
                    application::printed);
        }
    }
}
