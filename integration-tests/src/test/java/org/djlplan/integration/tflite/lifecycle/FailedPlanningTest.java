package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a failure during planning leaves the model as DJL loaded it. */
class FailedPlanningTest {

    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    /**
     * Returns a model of an application that accepts only the engine's blocks; its error has no
     * message.
     */
    private static Model choosy(Model model) {
        return (Model)
                Proxy.newProxyInstance(
                        Model.class.getClassLoader(),
                        new Class<?>[] {Model.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("setBlock")
                                    && arguments[0].getClass() != model.getBlock().getClass()) {
                                throw new UnsupportedOperationException();
                            }
                            try {
                                return method.invoke(model, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private static ZooModel<NDList, NDList> planned(Model model) throws Exception {
        return new ZooModel<>(
                model,
                new PlannedTranslatorFactory()
                        .newInstance(
                                NDList.class,
                                NDList.class,
                                model,
                                Map.of("delegation.enabled", "false")));
    }

    private static void assertStock(ZooModel<NDList, NDList> model, Path file) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            List<ByteBuffer> values = stock.randomInputs(1);
            assertEquals(stock.run(values), Planned.predict(model, values, stock.shapes()));
        }
        assertFalse(PlanReport.of(model.getWrappedModel()).orElseThrow().planned());
    }

    @Test
    void load_requiredButUnplannable_failsWithTheReasonAndNoWarning() throws Exception {
        Model engineModel = Model.newInstance("blaze_face", "TFLite");
        engineModel.load(TestModels.built("blaze_face"));
        Model choosy = choosy(engineModel);
        try (LogCapture log = LogCapture.echoing()) {
            TranslateException e =
                    assertThrows(
                            TranslateException.class,
                            () ->
                                    PlannedTranslatorFactory.builder()
                                            .optRequired(true)
                                            .optDelegationEnabled(false)
                                            .build()
                                            .newInstance(
                                                    NDList.class, NDList.class, choosy, Map.of()));
            NotPlannedException cause = assertInstanceOf(NotPlannedException.class, e.getCause());
            assertEquals("java.lang.UnsupportedOperationException", cause.reason());
            assertEquals(List.of(), log.ours("WARN"));
            assertFalse(engineModel.getNDManager().isOpen());
        }
    }

    @Test
    void load_requiredButNothingMeasured_failsWithTheReason() throws Exception {
        Map<String, ?> options = Map.of("memplan.required", true, "delegation.profile", "off");
        ModelException e =
                assertThrows(
                        ModelException.class,
                        () -> Planned.load(TestModels.built("blaze_face"), options).close());
        assertEquals(
                "no delegation was verified: CPU kernels: nothing was measured",
                assertInstanceOf(NotPlannedException.class, Throwables.getRootCause(e)).reason());
    }

    @Test
    void load_required_isDelegatedWhenItIsLoaded() throws Exception {
        try (ZooModel<NDList, NDList> model =
                Planned.load(
                        TestModels.built("chains"),
                        Map.of("memplan.required", true, "delegation.enabled", true))) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.planned());
            assertNotEquals(
                    DelegationReport.Origin.UNVERIFIED, report.delegation().orElseThrow().origin());
        }
    }

    @Test
    void load_blockThatWasSetByHand_staysAndIsWarnedOf() throws Exception {
        Model engineModel = Model.newInstance("by hand", "TFLite");
        Block block = new LambdaBlock(inputs -> inputs);
        engineModel.setBlock(block);
        // Not closed, because the engine's model would treat the block as its own.
        try (LogCapture log = LogCapture.echoing()) {
            ZooModel<NDList, NDList> model = planned(engineModel);
            assertSame(block, model.getBlock());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
        }
    }

    @Test
    void load_exceptionWithoutAMessage_runsAsStockAndSaysWhich() throws Exception {
        Path file = TestModels.built("blaze_face");
        Model engineModel = Model.newInstance("blaze_face", "TFLite");
        engineModel.load(file);
        Class<? extends Block> stockBlock = engineModel.getBlock().getClass();
        Model choosy = choosy(engineModel);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = planned(choosy)) {
            assertSame(stockBlock, model.getBlock().getClass());
            assertStock(model, file);
            assertEquals(
                    Optional.of("java.lang.UnsupportedOperationException"),
                    PlanReport.of(choosy).orElseThrow().unplannedReason());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
        }
    }
}
