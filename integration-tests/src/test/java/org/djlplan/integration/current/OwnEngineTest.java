package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import com.sun.net.httpserver.HttpServer;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests djl-plan's engine "TFLite" through the API by which users of current DJL load models. */
@Tag("djl-current")
class OwnEngineTest {

    private static final int PREDICTIONS = 4;
    private static final int DAMAGED = 200;

    @TempDir Path folder;

    private static Criteria.Builder<NDList, NDList> criteria(Path model) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(model);
    }

    /** Returns the values of all outputs for some inputs, in order. */
    static List<ByteBuffer> predict(ZooModel<NDList, NDList> model) throws Exception {
        List<ByteBuffer> values = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            for (int i = 0; i < PREDICTIONS; i++) {
                for (NDArray output : predictor.predict(inputs(model, manager, i))) {
                    ByteBuffer copy = ByteBuffer.allocate(output.toByteBuffer().remaining());
                    values.add(copy.put(output.toByteBuffer()).rewind());
                }
            }
        }
        return values;
    }

    static NDList inputs(Model model, NDManager manager, int seed) {
        Random random = new Random(seed);
        NDList list = new NDList();
        model.describeInput()
                .values()
                .forEach(
                        shape -> {
                            float[] values = new float[(int) shape.size()];
                            for (int i = 0; i < values.length; i++) {
                                values[i] = random.nextFloat() * 2 - 1;
                            }
                            list.add(manager.create(values, shape));
                        });
        return list;
    }

    @Test
    void predict_composite_isTheEnginesToTheByte() throws Exception {
        assertPlannedIsPlain(written(OddModels.composite(), "composite.tflite"));
    }

    /** Asserts that a planned model gives the bytes of a model without djl-plan. */
    static void assertPlannedIsPlain(Path file) throws Exception {
        List<ByteBuffer> expected;
        try (ZooModel<NDList, NDList> plain =
                criteria(file).optOption("numThreads", "1").build().loadModel()) {
            assertTrue(PlanReport.of(plain).isEmpty());
            expected = predict(plain);
        }
        try (ZooModel<NDList, NDList> planned =
                criteria(file)
                        .optTranslatorFactory(
                                new PlannedTranslatorFactory()
                                        .with("memplan.threads", 1)
                                        .with("delegation.enabled", false))
                        .build()
                        .loadModel()) {
            assertEquals(expected, predict(planned));
            PlanReport report = PlanReport.of(planned).orElseThrow();
            assertTrue(report.planned(), report::toString);
            assertTrue(report.plan().arenaBytes() > 0);
        }
    }

    private Path written(TfLiteFile network, String name) throws IOException {
        Path file = folder.resolve(name);
        TfLiteWriter.write(network, file);
        return file;
    }

    private static List<ByteBuffer> predict(Criteria.Builder<NDList, NDList> criteria)
            throws Exception {
        try (ZooModel<NDList, NDList> model = criteria.build().loadModel()) {
            return predict(model);
        }
    }

    /** Returns an archive of one file. */
    private Path zipped(Path file, String name) throws IOException {
        Path archive = folder.resolve("archive.zip");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            zip.putNextEntry(new ZipEntry(name));
            Files.copy(file, zip);
        }
        return archive;
    }

    @Test
    void load_fromFolderArchiveUrlAndStream_areTheSameModel() throws Exception {
        Path file = Files.copy(TestModels.built("chains"), folder.resolve("chains.tflite"));
        Path archive = zipped(file, "archive/inside.tflite");
        List<ByteBuffer> expected = predict(criteria(file));
        assertEquals(expected, predict(criteria(folder).optModelName("chains")));
        assertEquals(expected, predict(criteria(archive).optModelName("inside")));
        assertEquals(
                expected,
                predict(
                        Criteria.builder()
                                .setTypes(NDList.class, NDList.class)
                                .optEngine("TFLite")
                                .optModelUrls(folder.toUri().toString())
                                .optModelName("chains")));
        Path copy;
        try (Model model = Model.newInstance("streamed", "TFLite");
                InputStream stream = Files.newInputStream(file)) {
            model.load(stream);
            try (Predictor<NDList, NDList> predictor =
                            model.newPredictor(new NoopTranslator(null));
                    NDManager manager = model.getNDManager().newSubManager()) {
                NDArray output = predictor.predict(inputs(model, manager, 0)).head();
                assertEquals(
                        expected.get(0).asReadOnlyBuffer(), ByteBuffer.wrap(output.toByteArray()));
            }
            copy = model.getModelPath();
            assertTrue(Files.exists(copy));
        }
        assertTrue(Files.notExists(copy));
    }

    private static Criteria.Builder<NDList, NDList> urls(String url) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelUrls(url)
                .optModelName("inside");
    }

    @Test
    void load_fromUrlsOfArchives_areTheSameModelPlannedAndPlain() throws Exception {
        Path file = Files.copy(TestModels.built("chains"), folder.resolve("inside.tflite"));
        Path zipped = zipped(file, "inside.tflite");
        Path tarred = folder.resolve("tarred.tar.gz");
        Process tar =
                new ProcessBuilder("tar", "-czf", tarred.toString(), "inside.tflite")
                        .directory(folder.toFile())
                        .inheritIO()
                        .start();
        assertEquals(0, tar.waitFor());
        List<ByteBuffer> expected = predict(criteria(file));
        HttpServer server = serve(folder);
        String web = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
        for (String url :
                List.of(
                        zipped.toUri().toString(),
                        tarred.toUri().toString(),
                        web + "archive.zip",
                        web + "tarred.tar.gz")) {
            assertEquals(expected, predict(urls(url)), url);
            assertEquals(
                    expected,
                    predict(
                            urls(url)
                                    .optTranslatorFactory(
                                            new PlannedTranslatorFactory()
                                                    .with("delegation.enabled", false))),
                    url);
        }
        server.stop(0);
    }

    /** Serves a folder on a free port. */
    private static HttpServer serve(Path folder) throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    String name = exchange.getRequestURI().getPath().substring(1);
                    byte[] content = Files.readAllBytes(folder.resolve(name));
                    exchange.sendResponseHeaders(200, content.length);
                    exchange.getResponseBody().write(content);
                    exchange.close();
                });
        server.start();
        return server;
    }

    @Test
    void load_noFile_saysWhereItLooked() {
        IOException e = assertThrows(FileNotFoundException.class, () -> load(folder));
        assertTrue(e.toString().contains(folder.getFileName().toString()), e::toString);
        try (Model model = Model.newInstance("absent", "TFLite")) {
            assertThrows(FileNotFoundException.class, () -> model.load(folder));
        }
    }

    private static void load(Path path) throws Exception {
        criteria(path).build().loadModel().close();
    }

    @Test
    void load_customOperator_isNamed() throws Exception {
        Path file = written(OddModels.customOperator(), "custom.tflite");
        MalformedModelException e = assertThrows(MalformedModelException.class, () -> load(file));
        assertTrue(e.getMessage().contains("NoSuchOperator"), e::getMessage);
    }

    /**
     * Changes bytes all over the file, and truncates it. The result is an error of DJL or a model,
     * nothing else.
     */
    @Test
    void load_damaged_isAnErrorOrAModel() throws Exception {
        byte[] sound = Files.readAllBytes(TestModels.built("chains"));
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < DAMAGED; i++) {
            byte[] damaged = sound.clone();
            for (int j = 0; j < 8; j++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            if (i % 2 == 0) {
                damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
            }
            Path file = Files.write(folder.resolve("damaged.tflite"), damaged);
            try (Model model = Model.newInstance("damaged", "TFLite")) {
                model.load(file);
            } catch (MalformedModelException e) {
                refused++;
                assertTrue(e.getMessage().contains("damaged.tflite"), e::getMessage);
            }
        }
        assertTrue(refused >= DAMAGED / 2, refused + " of " + DAMAGED);
    }

    @Test
    void load_emptyFile_isMalformed() throws Exception {
        Path file = Files.createFile(folder.resolve("empty.tflite"));
        Exception e =
                assertThrows(
                        MalformedModelException.class,
                        () -> predict(criteria(file).optModelName("empty")));
        assertTrue(e.getMessage().contains("empty.tflite: is empty"), e::toString);
    }

    @Test
    void predict_dynamicOutput_hasTheShapeOfTheRun() throws Exception {
        Path file = written(OddModels.dynamicOutput(), "dynamic.tflite");
        try (ZooModel<NDList, NDList> model = criteria(file).build().loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            for (int[] repeats : new int[][] {{1, 1}, {2, 3}, {1, 2}}) {
                NDArray row = manager.ones(new Shape(1, 16));
                NDArray output =
                        predictor
                                .predict(new NDList(row, manager.create(repeats)))
                                .singletonOrThrow();
                assertEquals(new Shape(repeats[0], 16L * repeats[1]), output.getShape());
                assertEquals((float) Math.tanh(1), output.toFloatArray()[0], 1e-6f);
            }
        }
    }

    @Test
    void close_model_endsPredictionsAndArraysStay() throws Exception {
        ZooModel<NDList, NDList> model = criteria(TestModels.built("chains")).build().loadModel();
        Predictor<NDList, NDList> predictor = model.newPredictor();
        try (NDManager manager = NDManager.newBaseManager(Device.cpu(), "TFLite")) {
            NDList inputs = inputs(model, manager, 0);
            NDArray output = predictor.predict(inputs).head();
            float[] before = output.toFloatArray();
            output.detach();
            model.close();
            model.close();
            assertArrayEquals(before, output.toFloatArray());
            output.close();
            output.close();
            assertThrows(IllegalStateException.class, output::toByteBuffer);
            assertThrows(TranslateException.class, () -> predictor.predict(inputs));
        }
    }

    @Test
    void outputs_haveTheModelsNames() throws Exception {
        try (ZooModel<NDList, NDList> model =
                        criteria(TestModels.built("mobilenet_v1")).build().loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDArray output = predictor.predict(inputs(model, manager, 0)).singletonOrThrow();
            assertEquals(model.describeOutput().keyAt(0), output.getName());
            assertEquals(model.describeOutput().valueAt(0), output.getShape());
        }
    }

    @Test
    void engine_loaded_reportsLibraryVersionAndIsNotDefault() {
        Engine engine = Engine.getEngine("TFLite");
        assertTrue(engine.getVersion().startsWith("2.2"), engine.getVersion());
        String expected = Engine.hasEngine("PyTorch") ? "PyTorch" : "TFLite";
        assertEquals(expected, Engine.getDefaultEngineName());
    }
}
