package org.djlplan.integration.springboot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.TestImage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * Starts the application's single jar, which contains other jars, with {@code java -jar}. Its
 * properties make the first start measure the delegation.
 */
@Tag("pipelines")
class SpringBootRouteTest {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final int IMAGES = 8;

    /** Of the class path, what is not the application's. */
    private static final String FOR_TESTS =
            ".*/(junit|opentest4j|apiguardian|spring-boot-loader-tools|djl-memplan-[^/]*-tests).*";

    @TempDir static Path folder;

    private static Path model;
    private static Path jar;

    @BeforeAll
    static void make() throws Exception {
        model = Files.createDirectory(folder.resolve("classifier")).resolve("classifier.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), model);
        jar = repackaged();
    }

    /** Returns the application in one jar, with what is on its class path. */
    private static Path repackaged() throws Exception {
        Path classes =
                Path.of(
                        ClassifierApplication.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        Path plain = folder.resolve("plain.jar");
        try (OutputStream bytes = Files.newOutputStream(plain);
                JarOutputStream out = new JarOutputStream(bytes);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        Path application = folder.resolve("app.jar");
        Repackager repackager = new Repackager(plain.toFile());
        repackager.setMainClass(ClassifierApplication.class.getName());
        repackager.repackage(
                application.toFile(),
                libraries -> {
                    for (String entry : classPath()) {
                        if (entry.endsWith(".jar") && !entry.matches(FOR_TESTS)) {
                            libraries.library(
                                    new Library(Path.of(entry).toFile(), LibraryScope.COMPILE));
                        }
                    }
                });
        return application;
    }

    private static List<String> classPath() {
        String own = System.getProperty("java.class.path");
        String path = System.getProperty("surefire.test.class.path", own);
        return Arrays.asList(path.split(Pattern.quote(File.pathSeparator)));
    }

    /** The application in a separate process. */
    private static final class Application implements AutoCloseable {

        private final Process process;
        private final List<String> lines = new ArrayList<>();
        private final CompletableFuture<Integer> port = new CompletableFuture<>();
        private final Thread reader = new Thread(this::read, "application");
        private final HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

        Application(String... arguments) throws IOException {
            List<String> command =
                    new ArrayList<>(
                            List.of(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-Dai.djl.offline=true",
                                    "-DDJL_CACHE_DIR=" + System.getProperty("DJL_CACHE_DIR"),
                                    "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                                    "-Xmx512m",
                                    "-jar",
                                    jar.toString(),
                                    "--server.port=0",
                                    "--djl.model=" + model));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            reader.start();
        }

        private void read() {
            try (BufferedReader in = process.inputReader()) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    synchronized (lines) {
                        lines.add(line);
                    }
                    Matcher started = PORT.matcher(line);
                    if (started.find()) {
                        port.complete(Integer.valueOf(started.group(1)));
                    }
                }
            } catch (IOException e) {
                // It was killed.
            } finally {
                port.completeExceptionally(new IOException("it has ended:\n" + printed()));
            }
        }

        String printed() {
            synchronized (lines) {
                return String.join("\n", lines);
            }
        }

        private URI uri(String path) throws Exception {
            return URI.create("http://localhost:" + port.get(1, TimeUnit.MINUTES) + path);
        }

        CompletableFuture<HttpResponse<String>> classify(HttpRequest.BodyPublisher image)
                throws Exception {
            HttpRequest request =
                    HttpRequest.newBuilder(uri("/classify"))
                            .header("Content-Type", "application/octet-stream")
                            .POST(image)
                            .build();
            return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        }

        private JsonObject actuator(String what) throws Exception {
            HttpRequest request = HttpRequest.newBuilder(uri("/actuator/" + what)).build();
            String body = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            return JsonParser.parseString(body).getAsJsonObject();
        }

        JsonObject health() throws Exception {
            return actuator("health").getAsJsonObject("components").getAsJsonObject("model");
        }

        double metric(String name) throws Exception {
            return actuator("metrics/" + name)
                    .getAsJsonArray("measurements")
                    .get(0)
                    .getAsJsonObject()
                    .get("value")
                    .getAsDouble();
        }

        /** Asks it to end, as a container's runtime does. */
        void terminate() {
            // A process that is destroyed by Java has its output closed, too.
            assertTrue(process.toHandle().destroy());
        }

        int exitValue() throws Exception {
            assertTrue(process.waitFor(1, TimeUnit.MINUTES), "it does not end");
            reader.join();
            return process.exitValue();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    /** Returns what the model says without djl-plan's choices. */
    private static List<String> expected() throws Exception {
        Criteria<Image, Classifications> criteria =
                Criteria.builder()
                        .setTypes(Image.class, Classifications.class)
                        .optEngine("TFLite")
                        .optModelPath(model)
                        .optTranslator(Labels.translator())
                        .build();
        List<String> classes = new ArrayList<>();
        try (ZooModel<Image, Classifications> stock = criteria.loadModel();
                Predictor<Image, Classifications> predictor = stock.newPredictor()) {
            for (int seed = 0; seed < IMAGES; seed++) {
                Image image =
                        ImageFactory.getInstance()
                                .fromInputStream(new ByteArrayInputStream(TestImage.png(seed)));
                classes.add(predictor.predict(image).best().getClassName());
            }
        }
        return classes;
    }

    private static HttpResponse<String> get(
            CompletableFuture<HttpResponse<String>> answer, Application application)
            throws Exception {
        try {
            return answer.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError(application.printed(), e);
        }
    }

    private static void await(Application application, String words) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (!application.printed().contains(words)) {
            assertTrue(System.nanoTime() < end, application::printed);
            Thread.sleep(20);
        }
    }

    @Test
    void fatJar_argumentsFromProperties_plannedAndDelegatedByMeasurement() throws Exception {
        List<String> expected = expected();
        try (Application application = new Application()) {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int seed = 0; seed < IMAGES; seed++) {
                answers.add(
                        application.classify(
                                HttpRequest.BodyPublishers.ofByteArray(TestImage.png(seed))));
            }

            List<String> classes = new ArrayList<>();
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                classes.add(get(answer, application).body());
            }
            assertEquals(expected, classes, application::printed);
            JsonObject health = application.health();
            assertEquals("UP", health.get("status").getAsString());
            JsonObject details = health.getAsJsonObject("details");
            assertTrue(details.get("planned").getAsBoolean(), details::toString);
            assertEquals(IMAGES, details.get("predictions").getAsInt());
            assertEquals(0, details.get("unplanned").getAsInt());
            // The property in two levels, delegation.profile, has arrived.
            assertEquals("MEASURED", details.get("origin").getAsString(), application::printed);
            assertTrue(details.get("delegated").getAsInt() > 0, details::toString);
            assertEquals(IMAGES, application.metric("djlplan.predictions?tag=planned:true"));
            assertEquals(0, application.metric("djlplan.predictions?tag=planned:false"));
            assertEquals(
                    details.get("delegated").getAsInt(),
                    application.metric("djlplan.delegation?tag=origin:MEASURED"));
            assertTrue(application.metric("djlplan.arenas.bytes") > 0);
        }
    }

    @Test
    void shutdown_duringARequest_answersAndClosesTheModel() throws Exception {
        byte[] image = TestImage.png(1);
        PipedOutputStream upload = new PipedOutputStream();
        try (Application application =
                        new Application(
                                "--djl.arguments.delegation.enabled=false",
                                "--logging.level."
                                        + "org.springframework.beans.factory.support.DisposableBeanAdapter=trace",
                                "--logging.level.org.springframework.web.servlet.DispatcherServlet=debug");
                PipedInputStream body = new PipedInputStream(upload)) {
            CompletableFuture<HttpResponse<String>> answer =
                    application.classify(HttpRequest.BodyPublishers.ofInputStream(() -> body));
            upload.write(image, 0, image.length / 2);
            upload.flush();
            await(application, "POST \"/classify\"");

            application.terminate();
            await(application, "Commencing graceful shutdown");
            assertFalse(answer.isDone(), "it was not in the middle");
            upload.write(image, image.length / 2, image.length - image.length / 2);
            upload.close();

            HttpResponse<String> response = get(answer, application);
            assertEquals(200, response.statusCode(), application::printed);
            assertEquals(expected().get(1), response.body());
            // As every JVM that a signal ends.
            assertEquals(143, application.exitValue());
            assertTrue(
                    application.printed().contains("Invoking close() on bean with name 'model'"),
                    application::printed);
        }
    }
}
