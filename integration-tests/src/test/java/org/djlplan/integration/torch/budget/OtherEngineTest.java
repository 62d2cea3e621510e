package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a model that is given a weights file for PyTorch, but turns out to belong to another
 * engine.
 */
class OtherEngineTest {

    @TempDir Path folder;

    @BeforeEach
    void loadEngine() {
        Torch.threads(1);
    }

    private ZooModel<NDList, NDList> load(Path file, String budget) throws Exception {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine("TFLite")
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator())
                                .with("memplan.threads", 1)
                                .with("memplan.budget", budget))
                .build()
                .loadModel();
    }

    @Test
    void load_budgetForTensorFlowLite_leavesNoFileOfWeights() throws Exception {
        Path file =
                Files.copy(BudgetModels.SMALL_RESNET.file(), folder.resolve("small_resnet.tflite"));
        try (ZooModel<NDList, NDList> model = load(file, "1GB")) {
            assertTrue(PlanReport.of(model).orElseThrow().budget().isPresent());
            assertEquals(0, ResidentWeights.mappings());
        }
        assertThrows(ModelException.class, () -> load(file, "1KB").close());
        assertEquals(0, ResidentWeights.mappings());
    }
}
