package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslatorFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests memory, outputs and errors of ONNX models from loading to closing. */
@Tag("onnxruntime")
class OrtLifecycleTest {

    private static final long WEIGHTS_BYTES = 4L << 20;

    @TempDir Path folder;

    @Test
    void predict_smallAfterLarge_arenaIsTrimmed() throws Exception {
        Path file = OrtModels.detector(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(OrtModels.image(manager, 512)).close();
            // The arena with the first output is not used again.
            predictor.predict(OrtModels.image(manager, 512)).close();
            long large = ArenaPool.shared().metric().arenaBytes();
            Await.until(
                    () -> {
                        predictor.predict(OrtModels.image(manager, 32)).close();
                        return ArenaPool.shared().metric().arenaBytes() < large / 8;
                    });
        }
    }

    @Test
    @Tag("long")
    void predict_noneForAMoment_keepsWhatTheLastUsed() throws Exception {
        Path file = OrtModels.detector(folder);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> expected =
                    OrtModels.bytes(predictor.predict(OrtModels.image(manager, 512)));
            predictor.predict(OrtModels.image(manager, 32)).close();
            Await.until(() -> ArenaPool.shared().metric().arenaBytes() < 1 << 20);
            assertEquals(
                    expected, OrtModels.bytes(predictor.predict(OrtModels.image(manager, 512))));
        }
    }

    @Test
    void memory_largeWeights_areCounted() throws Exception {
        Path file = OnnxSketch.large().write(folder.resolve("large.onnx"));
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            MemoryReport memory = PlanHandle.of(model).orElseThrow().memory().orElseThrow();
            assertTrue(memory.weightsBytes() >= WEIGHTS_BYTES, memory.toString());
            assertTrue(memory.weightsBytes() < 3 * WEIGHTS_BYTES, memory.toString());
        }
    }

    @Test
    void load_deviceThatIsNotThere_failsAsStockDoes() throws Exception {
        Path file = OrtModels.classifier(folder);
        List<String> errors = new ArrayList<>();
        for (TranslatorFactory factory :
                List.of(
                        new DefaultTranslatorFactory(),
                        PlannedTranslatorFactory.wrap(new NoopTranslator()))) {
            MalformedModelException e =
                    assertThrows(
                            MalformedModelException.class,
                            () ->
                                    OrtModels.criteria(file)
                                            .optDevice(Device.gpu())
                                            .optTranslatorFactory(factory)
                                            .build()
                                            .loadModel());
            errors.add(Throwables.getRootCause(e).getMessage());
        }
        assertEquals(errors.get(0), errors.get(1));
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file)) {
            assertTrue(PlanHandle.of(model).orElseThrow().report().planned());
        }
    }

    @Test
    void load_warmedUpAndVerified_predicts() throws Exception {
        Path file = OrtModels.classifier(folder);
        Map<String, ?> options = Map.of("memplan.warmup", "1,3,32,32", "memplan.verify", true);
        try (ZooModel<NDList, NDList> model = OrtModels.planned(file, options);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            predictor.predict(OrtModels.image(manager, 32)).close();
            assertTrue(PlanHandle.of(model).orElseThrow().report().predictions().online() >= 2);
        }
    }

    @Test
    void predict_randomNumbersVerified_answersAsStockAndStaysPlanned() throws Exception {
        Path file = OnnxSketch.random().write(folder.resolve("random.onnx"));
        float[] input = new float[8];
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> stock = OrtModels.stock(file);
                ZooModel<NDList, NDList> model =
                        OrtModels.planned(file, Map.of("memplan.verify", true));
                Predictor<NDList, NDList> expected = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDArray first = expected.predict(new NDList(manager.create(input))).head();
            NDArray answer = predictor.predict(new NDList(manager.create(input))).head();
            assertArrayEquals(first.toFloatArray(), answer.toFloatArray());
            predictor.predict(new NDList(manager.create(input))).close();
            assertEquals(List.of(), log.ours("WARN"));
            PlanReport report = PlanHandle.of(model).orElseThrow().report();
            assertTrue(report.planned());
            assertEquals(2, report.predictions().online());
        }
    }

    @Test
    void predict_stringsVerified_areStocks() throws Exception {
        Path file = OnnxSketch.strings().write(folder.resolve("strings.onnx"));
        String[] words = {"memory", "", "grün", "one that has no room in the object itself"};
        try (ZooModel<NDList, NDList> model =
                        OrtModels.planned(file, Map.of("memplan.verify", true));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            for (int i = 0; i < 6; i++) {
                NDList outputs = predictor.predict(new NDList(manager.create(words)));
                assertArrayEquals(words, outputs.singletonOrThrow().toStringArray());
            }
            assertEquals(6, PlanHandle.of(model).orElseThrow().report().predictions().online());
        }
    }

    @Test
    void load_fileOfTheSameNameWithoutSuffix_servesTheOneThatWasLoaded() throws Exception {
        Path file = OrtModels.classifier(folder);
        Path other = OrtModels.detector(folder);
        Files.move(other, folder.resolve("CLASSIFIER"));
        try (Model model = Model.newInstance("model", "OnnxRuntime")) {
            model.load(file);
            try (Predictor<NDList, NDList> predictor = model.newPredictor(OrtModels.plan(model));
                    NDManager manager = model.getNDManager().newSubManager()) {
                NDArray classes = predictor.predict(OrtModels.image(manager, 32)).head();
                assertEquals(new Shape(1, 10), classes.getShape());
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.unplannedReason().orElseThrow().contains("two files"));
        }
    }
}
