package org.djlplan.integration.tflite.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Translator;
import java.nio.ByteBuffer;
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
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the effect of options on a loaded model, on the log and on the report. */
class OptionsTest implements TfLiteTests {

    private static final Path FILE = TestModels.built("blaze_face");

    private static void predictAsStock(ZooModel<NDList, NDList> model) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(FILE, -1)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            Tolerance.assertWithin(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    FILE.toString());
        }
    }

    @Test
    void load_planned_logsOneLineAndNoWarning() throws Exception {
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of())) {
            predictAsStock(model);
            predictAsStock(model);
            assertEquals(1, log.ours("INFO").size(), log.ours("INFO").toString());
            assertTrue(log.ours("INFO").get(0).contains("blaze_face.t: "));
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void precision_lower_hasNoEffectAndOneLineSaysSo() throws Exception {
        Map<String, String> options =
                Map.of("delegation.precision", "int8", "delegation.profile", "off");
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(FILE, options)) {
            predictAsStock(model);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(
                    log.ours("WARN").get(0).contains("delegation.precision has no effect on "),
                    log.ours("WARN").toString());
        }
    }

    @Test
    void report_planned_isImmutableAndOfItsMoment() throws Exception {
        try (ZooModel<NDList, NDList> model = Planned.load(FILE, Map.of())) {
            PlanReport before = PlanReport.of(model).orElseThrow();
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> before.interpreters().add(before.interpreters().get(0)));
            predictAsStock(model);
            assertEquals(0, before.predictions().total());
            PlanReport after = PlanReport.of(model).orElseThrow();
            assertEquals(1, after.predictions().total());
            assertEquals("TFLite", after.engine());
            assertTrue(after.plan().records() > 0 && after.plan().inputOutputBytes() > 0);
            assertTrue(
                    after.plan().arenaBytes() > 0
                            && after.plan().arenaBytes() < after.plan().naiveBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void load_delegationEnabledOrNot_plans(boolean enabled) throws Exception {
        try (ZooModel<NDList, NDList> model =
                Planned.load(
                        FILE, Map.of("delegation.enabled", enabled, "delegation.profile", "off"))) {
            predictAsStock(model);
            assertTrue(PlanReport.of(model).orElseThrow().planned());
            assertEquals(enabled, PlanReport.of(model).orElseThrow().delegation().isPresent());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "memplan.wokers, 1, memplan.workers",
        "delegation.enable, true, delegation.enabled",
        "memplan.threads, 0, memplan.threads=0",
        "memplan.warmup, perhaps, memplan.warmup=perhaps",
        "delegation.enabled, perhaps, delegation.enabled=perhaps",
        "delegation.objektive, latency, delegation.objective",
        "delegation.objective, speed, delegation.objective=speed",
        "delegation.maxMemory, much, delegation.maxMemory=much",
        "delegation.profile, sometimes, delegation.profile=sometimes",
        "delegation.profile, blocking:10, delegation.profile=blocking:10",
        "delegation.tolerance, -1, delegation.tolerance=-1",
        "delegation.delegate, cuda, delegation.delegate=cuda",
    })
    void load_wrongKeyOrValue_isAnErrorThatSaysWhat(String key, String value, String part) {
        Exception e =
                assertThrows(Exception.class, () -> Planned.load(FILE, Map.of(key, value)).close());
        String message = Throwables.getRootCause(e).getMessage();
        assertTrue(message.contains(part), e.toString());
    }

    /** DJL passes its options to engines only; this is documented as unsupported. */
    @Test
    void load_keysAsDjlOptions_haveNoEffect() throws Exception {
        try (ZooModel<NDList, NDList> model =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(FILE)
                        .optEngine("TFLite")
                        .optOption("memplan.enabled", "false")
                        .optOption("memplan.unknown", "1")
                        .optTranslatorFactory(new PlannedTranslatorFactory())
                        .build()
                        .loadModel()) {
            predictAsStock(model);
            assertTrue(PlanReport.of(model).orElseThrow().planned());
        }
    }

    @Test
    void newInstance_modelThatIsPlannedAlready_leavesIt() throws Exception {
        try (Model model = Model.newInstance("identity", "PyTorch");
                LogCapture log = LogCapture.echoing()) {
            model.setBlock(Blocks.identityBlock());
            Translator<NDList, NDList> first =
                    new PlannedTranslatorFactory()
                            .newInstance(NDList.class, NDList.class, model, Map.of());
            Block planned = model.getBlock();
            Translator<NDList, NDList> second =
                    new PlannedTranslatorFactory()
                            .newInstance(NDList.class, NDList.class, model, Map.of());
            assertNotSame(first, second);
            assertSame(planned, model.getBlock());
            assertTrue(PlanReport.of(model).orElseThrow().planned());
            assertEquals(List.of(), log.ours("WARN"));
        }
    }
}
