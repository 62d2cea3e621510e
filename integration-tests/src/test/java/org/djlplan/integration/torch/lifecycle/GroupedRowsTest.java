package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.rows.RowFailedException;
import org.djlplan.memplan.rows.RowFigures;
import org.djlplan.memplan.rows.RowGrouping;
import org.djlplan.memplan.rows.RowPredictor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests rows of different lengths, grouped by length. */
@OnEveryDjlWhenLong
class GroupedRowsTest {

    /** Tolerance for an output's values, because regrouping changes the last digits. */
    private static final float TOLERANCE = 1e-5f;

    private static final int FEATURES = 24;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void copyModel() throws Exception {
        Torch.threads(1);
        file = Torch.copy(TorchScriptModels.named("same_twice"), folder);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Translates a series of steps. The output of a step does not depend on other steps. */
    private static final class Steps implements Translator<float[], float[]> {
        private int processed;

        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            processed++;
            if (values.length == 0) {
                throw new IllegalArgumentException("no values");
            }
            context.setAttachment("steps", values.length);
            NDArray series = context.getNDManager().create(values);
            return new NDList(
                    series.reshape(new Shape(values.length, 1))
                            .mul(context.getNDManager().ones(new Shape(1, FEATURES)))
                            .toType(DataType.FLOAT32, false));
        }

        @Override
        public float[] processOutput(TranslatorContext context, NDList outputs) {
            NDArray states = outputs.head();
            int steps = (Integer) context.getAttachment("steps");
            if (states.getShape().get(0) != steps) {
                throw new IllegalStateException(states.getShape() + " for " + steps + " steps");
            }
            return states.toFloatArray();
        }

        @Override
        public Batchifier getBatchifier() {
            return Batchifier.STACK;
        }
    }

    private ZooModel<float[], float[]> load(Translator<float[], float[]> translator)
            throws Exception {
        return criteria(translator).build().loadModel();
    }

    private Criteria.Builder<float[], float[]> criteria(Translator<float[], float[]> translator) {
        return Criteria.builder()
                .setTypes(float[].class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(file)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(translator)
                                .with("delegation.enabled", false));
    }

    private static List<float[]> rows(int count) {
        Random random = new Random(3);
        List<float[]> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float[] row = new float[2 + random.nextInt(40)];
            for (int j = 0; j < row.length; j++) {
                row[j] = random.nextFloat();
            }
            rows.add(row);
        }
        return rows;
    }

    private static RowGrouping tokens(long most) {
        return RowGrouping.ofTokens(most).withOutputsOfTokens();
    }

    private static List<float[]> all(Iterator<float[]> outputs) {
        List<float[]> all = new ArrayList<>();
        outputs.forEachRemaining(all::add);
        return all;
    }

    @Test
    void predict_byTokens_answersOfRowsAloneInOrder() throws Exception {
        List<float[]> rows = rows(150);
        Steps translator = new Steps();
        try (ZooModel<float[], float[]> model = load(translator);
                Predictor<float[], float[]> alone = model.newPredictor();
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(128).withWindow(64), 2)) {
            List<float[]> expected = new ArrayList<>();
            for (float[] row : rows) {
                expected.add(alone.predict(row));
            }
            translator.processed = 0;
            List<float[]> outputs = all(grouped.predict(rows.iterator()));
            assertEquals(150, outputs.size());
            for (int i = 0; i < outputs.size(); i++) {
                assertArrayEquals(expected.get(i), outputs.get(i), TOLERANCE, "row " + i);
            }
            assertEquals(150, translator.processed, "each once");
            RowFigures figures = grouped.figures();
            long tokens = rows.stream().mapToLong(row -> row.length).sum();
            assertEquals(150, figures.rows());
            assertEquals(tokens, figures.tokens());
            assertTrue(figures.batches() >= (tokens + figures.paddedTokens()) / 128);
            assertTrue(
                    figures.paddedTokens() < .1 * tokens, figures.paddedTokens() + " of " + tokens);
            assertEquals(0, figures.paddedRows());
        }
    }

    @Test
    void predict_rowOverTheBound_runsAloneOrFailsWithSizes() throws Exception {
        List<float[]> rows = new ArrayList<>(rows(10));
        rows.set(4, new float[500]);
        try (ZooModel<float[], float[]> model = load(new Steps())) {
            try (RowPredictor<float[], float[]> grouped =
                    new RowPredictor<>(model, tokens(100), 1)) {
                assertEquals(10, all(grouped.predict(rows.iterator())).size());
            }
            try (RowPredictor<float[], float[]> grouped =
                    new RowPredictor<>(model, tokens(100).refusingLargerRows(), 1)) {
                Iterator<float[]> outputs = grouped.predict(rows.iterator());
                RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
                assertEquals(4, failed.firstRow());
                assertInstanceOf(InputTooLargeException.class, failed.getCause().getCause());
                assertTrue(
                        failed.getMessage().contains("500 tokens")
                                && failed.getMessage().contains("100"),
                        failed.getMessage());
                assertEquals(3, all(grouped.predict(rows(3).iterator())).size());
            }
        }
    }

    @Test
    void predict_rowFails_saysWhichAndOthersCanFollow() throws Exception {
        List<float[]> rows = new ArrayList<>(rows(10));
        rows.set(7, new float[0]);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100).withWindow(4), 2)) {
            Iterator<float[]> outputs = grouped.predict(rows.iterator());
            for (int i = 0; i < 4; i++) {
                assertEquals(0, outputs.next().length % rows.get(i).length);
            }
            assertEquals(7, assertThrows(RowFailedException.class, outputs::next).firstRow());
            assertFalse(outputs.hasNext());
            assertThrows(NoSuchElementException.class, outputs::next);
            assertEquals(2, all(grouped.predict(rows(2).iterator())).size());
            Iterator<float[]> none = grouped.predict(List.<float[]>of().iterator());
            assertFalse(none.hasNext());
            assertThrows(NoSuchElementException.class, none::next);
        }
    }

    @Test
    void predict_predictionFails_saysOfWhichBatchAndOthersCanFollow() throws Exception {
        List<float[]> rows = rows(6);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> grouped =
                        // Outputs are not cut, so the translator rejects outputs that are too long.
                        new RowPredictor<>(model, RowGrouping.ofTokens(1000), 1)) {
            Iterator<float[]> outputs = grouped.predict(rows.iterator());
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(6, failed.rows());
            assertFalse(outputs.hasNext());
            assertEquals(1, all(grouped.predict(rows(1).iterator())).size());
        }
    }

    @Test
    void next_anotherIterationHasBegunAndFails_isRefusedUntilThen() throws Exception {
        List<float[]> bad = new ArrayList<>(rows(10));
        bad.set(7, new float[0]);
        List<float[]> good = rows(6);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100).withWindow(4), 2)) {
            Iterator<float[]> first = grouped.predict(bad.iterator());
            Iterator<float[]> second = grouped.predict(good.iterator());
            assertEquals(0, first.next().length % bad.get(0).length);
            assertEquals(
                    "an earlier iteration has not ended",
                    assertThrows(IllegalStateException.class, second::next).getMessage());

            assertEquals(7, assertThrows(RowFailedException.class, () -> all(first)).firstRow());

            assertEquals(good.size(), all(second).size());
        }
    }

    /** Returns the first row of a batch only. */
    private static Block firstRow() {
        return new LambdaBlock(batch -> new NDList(batch.head().get(":1")));
    }

    private ZooModel<float[], float[]> loadFirstRow() throws Exception {
        Path own = Files.createDirectory(folder.resolve("first"));
        BlockModels.save(firstRow(), own, new Shape(1, 1, FEATURES));
        return criteria(new Steps())
                .optModelPath(own)
                .optModelName(BlockModels.NAME)
                .optBlock(firstRow())
                .build()
                .loadModel();
    }

    @Test
    void predict_modelReturnsFewerRows_failsWithBothNumbersAndOthersCanFollow() throws Exception {
        float[] row = {1, 2};
        try (ZooModel<float[], float[]> model = loadFirstRow();
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100), 2)) {
            Iterator<float[]> outputs = grouped.predict(List.of(row, row, row).iterator());

            RowFailedException failed = assertThrows(RowFailedException.class, () -> all(outputs));

            assertEquals(3, failed.rows());
            assertTrue(
                    failed.getMessage().contains("1 outputs for a batch of 3 rows"),
                    failed.getMessage());
            assertEquals(1, all(grouped.predict(List.of(row).iterator())).size());
        }
    }

    /** Returns a constant factor of features with each row, as it would a mask. */
    private static final class Weighted implements Translator<float[], float[]> {
        private final Steps steps = new Steps();
        private volatile NDArray factors;

        /** As DJL does, before the first row. */
        @Override
        public void prepare(TranslatorContext context) {
            factors =
                    context.getPredictorManager()
                            .arange(0f, FEATURES, 1f)
                            .reshape(new Shape(1, FEATURES));
        }

        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            NDList inputs = steps.processInput(context, values);
            inputs.add(factors);
            return inputs;
        }

        @Override
        public float[] processOutput(TranslatorContext context, NDList outputs) {
            return steps.processOutput(context, outputs);
        }

        @Override
        public Batchifier getBatchifier() {
            return Batchifier.STACK;
        }
    }

    private static Block product() {
        return new LambdaBlock(inputs -> new NDList(inputs.get(0).mul(inputs.get(1))));
    }

    private ZooModel<float[], float[]> loadProduct() throws Exception {
        Path own = Files.createDirectory(folder.resolve("product"));
        BlockModels.save(product(), own, new Shape(1, 1, FEATURES));
        return criteria(new Weighted())
                .optModelPath(own)
                .optModelName(BlockModels.NAME)
                .optBlock(product())
                .build()
                .loadModel();
    }

    @Test
    void predict_translatorReturnsTheSameArrayForEachRow_answersAsUngrouped() throws Exception {
        List<float[]> rows = rows(30);
        try (ZooModel<float[], float[]> model = loadProduct()) {
            List<float[]> expected;
            try (RowPredictor<float[], float[]> ungrouped = new RowPredictor<>(model, 1, 2)) {
                expected = all(ungrouped.predict(rows.iterator()));
            }
            try (RowPredictor<float[], float[]> grouped =
                    new RowPredictor<>(model, tokens(100).withWindow(10), 2)) {
                List<float[]> outputs = all(grouped.predict(rows.iterator()));

                assertEquals(30, outputs.size());
                for (int i = 0; i < outputs.size(); i++) {
                    assertArrayEquals(expected.get(i), outputs.get(i), TOLERANCE, "row " + i);
                }
            }
        }
    }

    @Test
    void predict_translatorThrowsAnError_closesTheRowsOfItsWindow() throws Exception {
        List<NDManager> managers = new ArrayList<>();
        Translator<float[], float[]> translator =
                new Translator<>() {
                    @Override
                    public NDList processInput(TranslatorContext context, float[] values) {
                        managers.add(context.getNDManager());
                        if (managers.size() == 3) {
                            throw new StackOverflowError();
                        }
                        return new NDList(context.getNDManager().create(values));
                    }

                    @Override
                    public float[] processOutput(TranslatorContext context, NDList outputs) {
                        return outputs.head().toFloatArray();
                    }

                    @Override
                    public Batchifier getBatchifier() {
                        return Batchifier.STACK;
                    }
                };
        try (ZooModel<float[], float[]> model = load(translator);
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100), 1)) {
            Iterator<float[]> outputs = grouped.predict(rows(5).iterator());

            assertThrows(StackOverflowError.class, outputs::next);

            assertEquals(3, managers.size());
            assertTrue(managers.stream().noneMatch(NDManager::isOpen));
        }
    }

    @Test
    void close_batchesUnderWay_endsWithThem() throws Exception {
        try (ZooModel<float[], float[]> model = load(new Steps())) {
            Iterator<float[]> outputs;
            try (RowPredictor<float[], float[]> grouped =
                    new RowPredictor<>(model, tokens(50), 2)) {
                outputs = grouped.predict(rows(200).iterator());
                assertTrue(outputs.next().length > 0);
            }
            assertThrows(IllegalStateException.class, outputs::next);
        }
    }

    @Test
    void predict_oneAtATime_doesNotWaitForItself() throws Exception {
        Translator<float[], float[]> translator = new Steps();
        try (ZooModel<float[], float[]> model =
                        criteria(translator)
                                .optArgument("memplan.maxPredictions", "1")
                                .build()
                                .loadModel();
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100), 2)) {
            assertEquals(40, all(grouped.predict(rows(40).iterator())).size());
        }
    }

    @Test
    void new_sizesOfNothing_areRefused() {
        assertThrows(IllegalArgumentException.class, () -> RowGrouping.ofTokens(0));
        assertThrows(IllegalArgumentException.class, () -> tokens(5).withWindow(0));
    }
}
