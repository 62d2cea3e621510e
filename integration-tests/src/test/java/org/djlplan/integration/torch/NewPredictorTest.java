package org.djlplan.integration.torch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a new predictor for each request, as in Apache Camel, allocates hardly more than
 * without djl-plan.
 */
class NewPredictorTest {

    private static final int PREDICTORS = 200;
    private static final int SETTLING_PREDICTIONS = 10;

    private ZooModel<NDList, NDList> stock;
    private ZooModel<NDList, NDList> planned;

    private static ZooModel<NDList, NDList> load(boolean planned)
            throws IOException, ModelException {
        Path file = TorchScriptModels.named("cnn").file();
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("PyTorch")
                        .optModelPath(file);
        if (planned) {
            criteria.optTranslatorFactory(
                    PlannedTranslatorFactory.wrap(new NoopTranslator())
                            .with("delegation.enabled", false));
        } else {
            criteria.optTranslator(new NoopTranslator());
        }
        return criteria.build().loadModel();
    }

    @BeforeEach
    void loadBoth() throws Exception {
        stock = load(false);
        planned = load(true);
        for (ZooModel<NDList, NDList> model : List.of(stock, planned)) {
            try (Predictor<NDList, NDList> predictor = model.newPredictor();
                    NDArray input = model.getNDManager().ones(new Shape(1, 3, 32, 32))) {
                for (int i = 0; i < SETTLING_PREDICTIONS; i++) {
                    predictor.predict(new NDList(input)).close();
                }
            }
        }
    }

    @AfterEach
    void closeBoth() {
        planned.close();
        stock.close();
    }

    private static void makePredictors(ZooModel<NDList, NDList> model) {
        for (int i = 0; i < PREDICTORS; i++) {
            model.newPredictor().close();
        }
    }

    @OnEveryDjl
    @Test
    void newPredictor_allocatesNoMoreThanStocks() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] bytes = new long[2];
        for (ZooModel<NDList, NDList> model : List.of(stock, planned)) {
            makePredictors(model);
            long before = threads.getCurrentThreadAllocatedBytes();
            makePredictors(model);
            bytes[model == stock ? 0 : 1] = threads.getCurrentThreadAllocatedBytes() - before;
        }
        long more = (bytes[1] - bytes[0]) / PREDICTORS;
        assertTrue(more <= 256, more + " bytes more than the " + bytes[0] / PREDICTORS);
    }
}
