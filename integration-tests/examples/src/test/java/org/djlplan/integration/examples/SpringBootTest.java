package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Starts the example's single jar, which contains other jars. The example's properties make the
 * first start measure the delegation.
 */
@Tag("examples")
class SpringBootTest {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir static Path folder;

    private static Classifier classifier;
    private static List<Map<String, Double>> expected;

    @BeforeAll
    static void make() throws Exception {
        classifier = Classifier.in(folder);
        expected = classifier.stock();
    }

    private static ExampleProcess start(String... properties) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("--server.port=0", "--djl.model=" + classifier.model()));
        arguments.addAll(List.of(properties));
        return new ExampleProcess("spring-boot", List.of(), arguments);
    }

    private static CompletableFuture<HttpResponse<String>> classify(
            ExampleProcess application, HttpRequest.BodyPublisher image) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(
                                URI.create(
                                        application.address()
                                                + "/classify?top="
                                                + Classifier.CLASSES))
                        .header("Content-Type", "application/octet-stream")
                        .POST(image)
                        .build();
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> get(
            CompletableFuture<HttpResponse<String>> answer, ExampleProcess application)
            throws Exception {
        try {
            return answer.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError(application.printed(), e);
        }
    }

    private static Map<String, Double> probabilities(HttpResponse<String> response) {
        return new Gson().fromJson(response.body(), new TypeToken<Map<String, Double>>() {});
    }

    /** Arenas return their memory after a while, and once the first outputs are compared. */
    private void assertArenasAreUsed(ExampleProcess application, Actuator actuator)
            throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        do {
            assertTrue(System.nanoTime() < end, application::printed);
            HttpRequest.BodyPublisher image =
                    HttpRequest.BodyPublishers.ofFile(classifier.images().get(0));
            Classifier.assertClose(
                    expected.get(0), probabilities(get(classify(application, image), application)));
        } while (actuator.metric("djlplan.arenas.bytes") == 0);
    }

    private static void await(ExampleProcess application, String words) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!application.printed().contains(words)) {
            assertTrue(System.nanoTime() < end, application::printed);
            Thread.sleep(20);
        }
    }

    @Test
    void fatJar_argumentsFromProperties_plannedAndDelegatedByMeasurement() throws Exception {
        try (ExampleProcess application = start()) {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (Path image : classifier.images()) {
                answers.add(classify(application, HttpRequest.BodyPublishers.ofFile(image)));
            }

            for (int i = 0; i < answers.size(); i++) {
                Classifier.assertClose(
                        expected.get(i), probabilities(get(answers.get(i), application)));
            }
            Actuator actuator = new Actuator(CLIENT, application.address());
            int images = expected.size();
            JsonObject health = actuator.health("model");
            assertEquals("UP", health.get("status").getAsString());
            JsonObject details = health.getAsJsonObject("details");
            assertTrue(details.get("planned").getAsBoolean(), details::toString);
            assertEquals(images, details.get("predictions").getAsInt());
            assertEquals(0, details.get("unplanned").getAsInt());
            // The property delegation.profile, which has two levels, had its effect.
            assertEquals("MEASURED", details.get("origin").getAsString(), application::printed);
            assertTrue(details.get("delegated").getAsInt() > 0, details::toString);
            assertEquals(images, actuator.metric("djlplan.predictions?tag=planned:true"));
            assertEquals(0, actuator.metric("djlplan.predictions?tag=planned:false"));
            assertEquals(
                    details.get("delegated").getAsInt(),
                    actuator.metric("djlplan.delegation?tag=origin:MEASURED"));
            String predictions =
                    "(?s).*djlplan_predictions_total\\{[^}]*model=\"mobilenet_v2\""
                            + "[^}]*planned=\"true\"[^}]*\\} 8\\.0.*";
            String prometheus = actuator.prometheus();
            assertTrue(prometheus.matches(predictions), prometheus);
            assertArenasAreUsed(application, actuator);
        }
    }

    @Test
    void shutdown_duringARequest_answersAndClosesTheModel() throws Exception {
        byte[] image = Files.readAllBytes(classifier.images().get(1));
        PipedOutputStream upload = new PipedOutputStream();
        try (ExampleProcess application =
                        start(
                                "--djl.arguments.delegation.enabled=false",
                                "--logging.level."
                                        + "org.springframework.beans.factory.support.DisposableBeanAdapter=trace",
                                "--logging.level.org.springframework.web.servlet.DispatcherServlet=debug");
                PipedInputStream body = new PipedInputStream(upload)) {
            CompletableFuture<HttpResponse<String>> answer =
                    classify(application, HttpRequest.BodyPublishers.ofInputStream(() -> body));
            upload.write(image, 0, image.length / 2);
            upload.flush();
            await(application, "POST \"/classify");

            application.terminate();
            await(application, "Commencing graceful shutdown");
            assertFalse(answer.isDone(), "it was not in the middle");
            upload.write(image, image.length / 2, image.length - image.length / 2);
            upload.close();

            HttpResponse<String> response = get(answer, application);
            assertEquals(200, response.statusCode(), application::printed);
            Classifier.assertSame(expected.get(1), probabilities(response));
            // The exit code of every JVM that SIGTERM ends.
            assertEquals(143, application.exitValue());
            assertTrue(
                    application.printed().contains("Invoking close() on bean with name 'model'"),
                    application::printed);
        }
    }
}
