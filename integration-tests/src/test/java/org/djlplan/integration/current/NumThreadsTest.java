package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.util.Map;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests which number of threads a model of djl-plan's TFLite engine uses: the number in DJL's
 * options at the load, or the number in djl-plan's options.
 */
@Tag("djl-current")
class NumThreadsTest {

    private static final int DEFAULT = -1;

    private static int threads(Map<String, String> loadOptions, PlannedTranslatorFactory factory)
            throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(TestModels.built("chains"))
                        .optOptions(loadOptions)
                        .optTranslatorFactory(factory);
        try (ZooModel<NDList, NDList> model = criteria.build().loadModel()) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            return report.delegation().map(DelegationReport::threads).orElseThrow();
        }
    }

    private static PlannedTranslatorFactory planned() {
        return new PlannedTranslatorFactory().with("delegation.profile", "off");
    }

    @Test
    void load_numThreads_isThePlansUnlessThatHasItsOwn() throws Exception {
        assertEquals(DEFAULT, threads(Map.of(), planned()));
        assertEquals(DEFAULT, threads(Map.of("numThreads", "-1"), planned()));
        assertEquals(2, threads(Map.of("numThreads", "2"), planned()));
        assertEquals(1, threads(Map.of("numThreads", "2"), planned().with("memplan.threads", 1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"many", "0", "-2", "1000000", "2147483648"})
    void load_numberOfThreadsThatIsNone_saysSo(String number) {
        try (Model model = Model.newInstance("chains", "TFLite")) {
            IllegalArgumentException e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () ->
                                    model.load(
                                            TestModels.built("chains"),
                                            null,
                                            Map.of("numThreads", number)));
            assertTrue(e.getMessage().contains("numThreads=" + number), e::getMessage);
        }
    }
}
