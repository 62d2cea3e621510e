package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a model that gets more input shapes than the number of plans that are kept. */
class TorchManyShapesTest {

    private static final int SHAPES = 400;
    private static final int FEW = 60;
    private static final int MOST_FILES = 32;

    /** The number of shapes whose plans are kept although the shapes do not recur. */
    private static final int AT_ONCE = 8;

    /**
     * The number of predictions after which the plan of another shape counts as used, and is kept.
     */
    private static final int OFTEN = 65;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void copyModel() throws Exception {
        Torch.threads(1);
        file = Torch.copy(TorchScriptModels.named("cnn"), folder);
    }

    private static ModelInputs shape(int number) {
        return ModelInputs.floats(new long[] {1, 3, 16 + number % 20, 16 + number / 20});
    }

    private static List<Output> predict(Predictor<NDList, NDList> predictor, int shape)
            throws Exception {
        return Torch.predict(predictor, shape(shape), shape);
    }

    /** Returns the files of plans, without the files about other shapes. */
    private Set<Path> kept() throws Exception {
        try (Stream<Path> files = Files.list(file.resolveSibling(".djlplan"))) {
            return files.filter(each -> !each.toString().endsWith(".shapes.json"))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void predict_moreShapesThanAreStored_storesSomeAndAnswersAsStock() throws Exception {
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                Predictor<NDList, NDList> plain = stock.newPredictor();
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> planned = model.newPredictor()) {
            for (int i = 0; i < FEW; i++) {
                assertEquals(predict(plain, i), predict(planned, i));
            }
        }
        Set<Path> first = kept();
        assertEquals(AT_ONCE, first.size());
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> planned = model.newPredictor()) {
            for (int i = 0; i < FEW; i++) {
                List<Output> unused = predict(planned, i);
            }
            assertEquals(0, Torch.report(model).predictions().recorded());
        }
        assertEquals(first, kept(), "seen once is no reason to drop another");
    }

    @Test
    void predict_recurringShape_replacesAnother() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> planned = model.newPredictor()) {
            for (int i = 0; i < MOST_FILES + 1; i++) {
                for (int times = 0; times < OFTEN; times++) {
                    List<Output> unused = predict(planned, i);
                }
            }
        }
        assertEquals(MOST_FILES, kept().size());
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> planned = model.newPredictor()) {
            List<Output> unused = predict(planned, MOST_FILES);
            assertEquals(0, Torch.report(model).predictions().recorded());
        }
    }

    private static double round(ZooModel<NDList, NDList> model) throws Exception {
        long begin = System.nanoTime();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < SHAPES; i++) {
                List<Output> unused = predict(predictor, i);
            }
        }
        return (System.nanoTime() - begin) / 1e6;
    }

    /** Prints how long rounds of 400 shapes take, in milliseconds. */
    @Test
    @Tag("bench")
    void bench_rounds() throws Exception {
        for (int repeat = 0; repeat < 3; repeat++) {
            copyModel();
            try (ZooModel<NDList, NDList> stock = Torch.loadStock(file)) {
                System.out.println("stock " + round(stock) + " " + round(stock));
            }
            try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of())) {
                System.out.println(
                        "planned " + round(model) + " " + round(model) + " " + round(model));
            }
            System.out.println("files " + kept().size());
            assertTrue(kept().size() <= MOST_FILES);
        }
    }
}
