package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests several models in one budget. */
@OnEveryDjl
class TorchSharedBudgetTest {

    private static final int LAYERS = 8;
    private static final int UNITS = 1024;
    private static final long LAYER_BYTES = 4L * UNITS * UNITS;
    private static final int SEEDS = 8;

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    private static SequentialBlock layers() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < LAYERS; i++) {
            block.add(Linear.builder().setUnits(UNITS).build()).add(Activation.reluBlock());
        }
        return block;
    }

    private Criteria<NDList, NDList> criteria() {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("PyTorch")
                .optModelPath(folder)
                .optModelName(BlockModels.NAME)
                .optBlock(layers())
                .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                .build();
    }

    private static List<List<Output>> answers(ZooModel<NDList, NDList> model) throws Exception {
        List<List<Output>> answers = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < SEEDS; seed++) {
                answers.add(Torch.predict(predictor, BlockModels.INPUTS, seed));
            }
        }
        return answers;
    }

    private static BudgetReport report(ZooModel<NDList, NDList> model) {
        return Torch.report(model).budget().orElseThrow();
    }

    @Test
    @Tag("long")
    void load_secondModel_takesRoomAndBothAnswerAsStock() throws Exception {
        BlockModels.save(layers(), folder);
        List<List<Output>> expected;
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(layers(), folder)) {
            expected = answers(stock);
        }
        SharedBudget shared = SharedBudget.of("80MB");
        try (ZooModel<NDList, NDList> first = shared.load(criteria())) {
            assertEquals(shared.bytes(), report(first).budgetBytes());
            assertEquals(expected, answers(first));
            assertEquals(expected, answers(first));
            long held = ResidentWeights.residentBytes();
            assertTrue(held > LAYER_BYTES, "of " + held);
            try (ZooModel<NDList, NDList> second = shared.load(criteria())) {
                long left = ResidentWeights.residentBytes();
                assertTrue(left < LAYER_BYTES, "nobody predicts, and yet there are " + left);
                assertTrue(
                        report(first).budgetBytes() + report(second).budgetBytes()
                                <= shared.bytes());
                for (int round = 0; round < 2; round++) {
                    assertEquals(expected, answers(first));
                    assertEquals(expected, answers(second));
                }
            }
            Await.until(() -> report(first).budgetBytes() == shared.bytes());
            assertEquals(expected, answers(first));
        }
        assertEquals(0, ResidentWeights.mappings());
        Torch.assertNoArenas();
    }
}
