package org.djlplan.integration.tflite.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Translator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.integration.tflite.TfLiteTests;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests planning without code: all options are in a URL or in a model zoo's metadata. */
class ZeroCodeTest implements TfLiteTests {

    private static final Path FILE = TestModels.built("blaze_face");
    private static final String FACTORY = "org.djlplan.memplan.PlannedTranslatorFactory";

    @TempDir Path folder;

    private static Criteria.Builder<NDList, NDList> arrays() {
        return Criteria.builder().setTypes(NDList.class, NDList.class).optEngine("TFLite");
    }

    private static ZooModel<NDList, NDList> load(String url) throws Exception {
        return arrays().optModelUrls(url).build().loadModel();
    }

    private static void assertPlannedAndRight(ZooModel<NDList, NDList> model, int threads)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(FILE, threads)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            Tolerance.assertWithin(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    FILE.toString());
        }
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertTrue(report.planned());
        assertTrue(report.delegation().isPresent());
        assertEquals(1, report.predictions().total());
        assertEquals(0, report.predictions().unplanned());
    }

    @ParameterizedTest
    @ValueSource(strings = {"face.tflite", "face.bin", "link.tflite"})
    void load_factoryInQueryOfFileUrl_plans(String name) throws Exception {
        Path file = folder.resolve(name);
        Path unused =
                name.startsWith("link")
                        ? Files.createSymbolicLink(file, FILE)
                        : Files.copy(FILE, file);
        String url = file.toUri() + ("?translatorFactory=" + FACTORY) + "&memplan.threads=1";
        try (ZooModel<NDList, NDList> model = load(url)) {
            // DJL cuts off this part of the extension.
            assertEquals(name.replace("flite", ""), model.getName());
            assertPlannedAndRight(model, 1);
            assertEquals(1, threads(model));
        }
    }

    private static int threads(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow().threads();
    }

    @Test
    void load_factoryInQueryOfFolderUrl_plansTheFileInside() throws Exception {
        Path inside = Files.createDirectory(folder.resolve("detector"));
        Files.copy(FILE, inside.resolve("detector.tflite"));
        String url = inside.toUri() + "?engine=TFLite&translatorFactory=" + FACTORY;
        try (ZooModel<NDList, NDList> model =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelUrls(url)
                        .build()
                        .loadModel()) {
            assertEquals("detector", model.getName());
            assertPlannedAndRight(model, -1);
        }
    }

    @Test
    void load_severalFilesInFolder_plansTheNamedOne() throws Exception {
        Files.copy(FILE, folder.resolve("face.tflite"));
        Files.copy(TestModels.built("mobilenet_v1"), folder.resolve("other.tflite"));
        try (ZooModel<NDList, NDList> model =
                arrays().optModelPath(folder)
                        .optModelName("face")
                        .optTranslatorFactory(new PlannedTranslatorFactory())
                        .build()
                        .loadModel()) {
            assertPlannedAndRight(model, -1);
        }
    }

    @Test
    void load_factoryInMetadataOfModelZoo_plans() throws Exception {
        Path artifact =
                Files.createDirectories(
                        folder.resolve("model/cv/image_classification/org/example/face"));
        writeMetadata(artifact);
        Files.copy(FILE, Files.createDirectory(artifact.resolve("0.0.1")).resolve("face.tflite"));
        Path cache = Files.createDirectory(folder.resolve("cache"));
        String before = System.setProperty("DJL_CACHE_DIR", cache.toString());
        try (ZooModel<NDList, NDList> model = load(folder.toUri().toString())) {
            assertEquals("face", model.getName());
            assertTrue(model.getModelPath().startsWith(cache), model.getModelPath().toString());
            assertPlannedAndRight(model, 1);
        } finally {
            if (before == null) {
                System.clearProperty("DJL_CACHE_DIR");
            } else {
                System.setProperty("DJL_CACHE_DIR", before);
            }
        }
    }

    private static void writeMetadata(Path artifact) throws IOException {
        Files.writeString(
                artifact.resolve("metadata.json"),
                """
                {
                  "metadataVersion": "0.2",
                  "resourceType": "model",
                  "application": "cv/image_classification",
                  "groupId": "org.example",
                  "artifactId": "face",
                  "name": "face",
                  "artifacts": [
                    {
                      "version": "0.0.1",
                      "name": "face",
                      "arguments": {
                        "translatorFactory": "%s",
                        "memplan.threads": 1,
                        "memplan.workers": 1
                      },
                      "files": {"model": {"uri": "0.0.1/face.tflite", "name": "face.tflite"}}
                    }
                  ]
                }
                """
                        .formatted(FACTORY));
    }

    @Test
    void newInstance_modelFromStream_staysStockWithOneWarning() throws Exception {
        try (Model model = Model.newInstance("stream", "TFLite");
                InputStream in = Files.newInputStream(FILE);
                LogCapture log = LogCapture.echoing()) {
            model.load(in, Map.of());
            Class<?> stock = model.getBlock().getClass();
            assertRunsAsStock(model, stock, log, "not loaded from a file");
        }
    }

    /**
     * The engine does not keep the caller's name for the file, and another file may have that name.
     */
    @Test
    void newInstance_modelLoadedUnderAPrefix_neverRunsTheOtherFile() throws Exception {
        Files.copy(FILE, folder.resolve("face.tflite"));
        Files.copy(TestModels.built("mobilenet_v1"), folder.resolve("model.tflite"));
        try (Model model = Model.newInstance("model", "TFLite");
                LogCapture log = LogCapture.echoing()) {
            model.load(folder, "face");
            assertRunsAsStock(model, model.getBlock().getClass(), log, "not loaded from a file");
        }
    }

    private static void assertRunsAsStock(
            Model model, Class<?> stockBlock, LogCapture log, String reason) throws Exception {
        Translator<NDList, NDList> translator =
                new PlannedTranslatorFactory()
                        .newInstance(NDList.class, NDList.class, model, Map.of());
        assertEquals(stockBlock, model.getBlock().getClass());
        assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
        assertTrue(log.ours("WARN").get(0).contains(reason), log.ours("WARN").get(0));
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertFalse(report.planned());
        assertTrue(report.unplannedReason().orElseThrow().contains(reason));
        try (StockInterpreter bare = new StockInterpreter(FILE, -1);
                NDManager manager = NDManager.newBaseManager("TFLite");
                Predictor<NDList, NDList> predictor = model.newPredictor(translator)) {
            List<ByteBuffer> inputs = bare.randomInputs(1);
            assertEquals(
                    bare.run(inputs), Planned.predict(predictor, manager, inputs, bare.shapes()));
        }
    }
}
