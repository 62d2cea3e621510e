package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.metrics.RowMetrics;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.rows.RowFailedException;
import org.djlplan.memplan.rows.RowFigures;
import org.djlplan.memplan.rows.RowGrouping;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Iterators;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests rows in batches of one size, and rows of different lengths, grouped by length. */
@OnEveryDjl
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RowPredictorTest {

    private static final int BATCH = 8;
    private static final int FEATURES = 24;

    /** Tolerance for an output's values, because regrouping changes the last digits. */
    private static final float TOLERANCE = 1e-5f;

    /** How rows become batches. A batch has eight rows, or a window of eight rows is grouped. */
    private enum Kind {
        OF_ONE_SIZE,
        GROUPED;

        RowPredictor<float[], float[]> predictor(ZooModel<float[], float[]> model, int threads) {
            return this == OF_ONE_SIZE
                    ? new RowPredictor<>(model, BATCH, threads)
                    : new RowPredictor<>(model, tokens(128).withWindow(BATCH), threads);
        }
    }

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
    private static class Steps implements Translator<float[], float[]> {
        private final AtomicInteger processed = new AtomicInteger();

        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            processed.incrementAndGet();
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

    private Criteria.Builder<float[], float[]> criteria(Translator<float[], float[]> translator) {
        return Criteria.builder()
                .setTypes(float[].class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(file)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(translator)
                                .with("delegation.enabled", false));
    }

    private ZooModel<float[], float[]> load(Translator<float[], float[]> translator)
            throws Exception {
        return criteria(translator).build().loadModel();
    }

    /** Loads a block that the test makes, which was saved as a model. */
    private ZooModel<float[], float[]> load(Block block, Translator<float[], float[]> translator)
            throws Exception {
        Path own = Files.createTempDirectory(folder, "block");
        BlockModels.save(block, own, new Shape(1, 1, FEATURES));
        return criteria(translator)
                .optModelPath(own)
                .optModelName(BlockModels.NAME)
                .optBlock(block)
                .build()
                .loadModel();
    }

    /** Returns rows of 2 to 41 values if the lengths may differ. */
    private static List<float[]> rows(Kind kind, int count) {
        Random random = new Random(3);
        List<float[]> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float[] row = new float[kind == Kind.GROUPED ? 2 + random.nextInt(40) : 12];
            for (int j = 0; j < row.length; j++) {
                row[j] = random.nextFloat();
            }
            rows.add(row);
        }
        return rows;
    }

    /** Returns rows of which one cannot be pre-processed. */
    private static List<float[]> withBadRow(Kind kind, int count, int bad) {
        List<float[]> rows = rows(kind, count);
        rows.set(bad, new float[0]);
        return rows;
    }

    private static RowGrouping tokens(long most) {
        return RowGrouping.ofTokens(most).withOutputsOfTokens();
    }

    private static List<float[]> all(Iterator<float[]> outputs) {
        return Lists.newArrayList(outputs);
    }

    private static void assertSameOutputs(List<float[]> expected, List<float[]> outputs) {
        assertEquals(expected.size(), outputs.size());
        for (int i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i), outputs.get(i), TOLERANCE, "row " + i);
        }
    }

    private static void assertEnded(Iterator<float[]> outputs) {
        assertFalse(outputs.hasNext());
        assertThrows(NoSuchElementException.class, outputs::next);
    }

    /**
     * Checks that one thread reads all rows, and records how far reading gets ahead of the returned
     * outputs.
     */
    private static final class Watched implements Iterator<float[]> {
        private final Iterator<float[]> rows;
        private final Thread reader = Thread.currentThread();
        private int read;
        private int returned;
        private int mostAhead;

        private Watched(List<float[]> rows) {
            this.rows = rows.iterator();
        }

        @Override
        public boolean hasNext() {
            assertSame(reader, Thread.currentThread());
            return rows.hasNext();
        }

        @Override
        public float[] next() {
            assertSame(reader, Thread.currentThread());
            read++;
            mostAhead = Math.max(mostAhead, read - returned);
            return rows.next();
        }
    }

    @Test
    void predict_lastBatchIsSmaller_answersOfStockInOrderWithFiguresAndMeters() throws Exception {
        int count = 21;
        List<float[]> rows = rows(Kind.OF_ONE_SIZE, count);
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<float[], float[]> stock =
                        criteria(new Steps())
                                .optTranslatorFactory(null)
                                .optTranslator(new Steps())
                                .build()
                                .loadModel();
                ZooModel<float[], float[]> planned = load(new Steps());
                Predictor<float[], float[]> predictor = stock.newPredictor();
                RowPredictor<float[], float[]> ours = Kind.OF_ONE_SIZE.predictor(planned, 2)) {
            new RowMetrics("model", ours).bindTo(registry);
            assertEquals(0, counted(registry, "djlplan.rows"));
            List<float[]> expected = new ArrayList<>();
            for (List<float[]> batch : Lists.partition(rows, BATCH)) {
                List<float[]> padded = new ArrayList<>(batch);
                while (padded.size() < BATCH) {
                    padded.add(batch.get(batch.size() - 1));
                }
                expected.addAll(predictor.batchPredict(padded));
            }
            Watched watched = new Watched(rows);
            Iterator<float[]> outputs = ours.predict(watched);
            for (int i = 0; i < count; i++) {
                assertTrue(outputs.hasNext());
                assertArrayEquals(expected.get(i), outputs.next(), "row " + i);
                watched.returned++;
            }
            assertEnded(outputs);
            // Two batches are being predicted, and one is being returned.
            assertTrue(watched.mostAhead <= 3 * BATCH, watched.mostAhead + " rows ahead");

            RowFigures figures = ours.figures();
            assertEquals(count, figures.rows());
            assertEquals(3, figures.batches());
            assertEquals(3 * BATCH - count, figures.paddedRows());
            assertTrue(figures.predictNanos() > 0);
            PlanReport.Predictions predictions = PlanReport.of(planned).orElseThrow().predictions();
            assertEquals(3, predictions.total());
            assertEquals(0, predictions.unplannedAllocations());
            assertEquals(count, counted(registry, "djlplan.rows"));
            assertEquals(3 * BATCH - count, counted(registry, "djlplan.rows.padded"));
            FunctionTimer batches =
                    registry.get("djlplan.rows.batches").tag("model", "model").functionTimer();
            assertEquals(3, batches.count());
            assertEquals(
                    (double) figures.predictNanos(), batches.totalTime(TimeUnit.NANOSECONDS), 1);
        }
    }

    private static double counted(MeterRegistry registry, String meter) {
        return registry.get(meter).tag("model", "model").functionCounter().count();
    }

    @Test
    void predict_byTokens_answersOfRowsAloneInOrder() throws Exception {
        List<float[]> rows = rows(Kind.GROUPED, 150);
        Steps translator = new Steps();
        try (ZooModel<float[], float[]> model = load(translator);
                Predictor<float[], float[]> alone = model.newPredictor();
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(128).withWindow(64), 2)) {
            List<float[]> expected = new ArrayList<>();
            for (float[] row : rows) {
                expected.add(alone.predict(row));
            }
            translator.processed.set(0);
            assertSameOutputs(expected, all(grouped.predict(rows.iterator())));
            assertEquals(150, translator.processed.get(), "each once");
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

    /** Delays the first batch's outputs until the second batch is pre-processed. */
    private static final class Overlapping extends Steps {
        private final CountDownLatch second = new CountDownLatch(BATCH + 1);
        private final AtomicBoolean first = new AtomicBoolean(true);

        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            second.countDown();
            return super.processInput(context, values);
        }

        @Override
        public float[] processOutput(TranslatorContext context, NDList outputs) {
            if (first.getAndSet(false)) {
                Uninterruptibles.awaitUninterruptibly(second);
            }
            return super.processOutput(context, outputs);
        }
    }

    @Test
    void predict_twoThreads_twoBatchesAreUnderWayAtOnce() throws Exception {
        try (ZooModel<float[], float[]> planned = load(new Overlapping());
                RowPredictor<float[], float[]> ours = Kind.OF_ONE_SIZE.predictor(planned, 2)) {
            List<float[]> rows = rows(Kind.OF_ONE_SIZE, 2 * BATCH);
            assertEquals(2 * BATCH, all(ours.predict(rows.iterator())).size());
            assertEquals(2, ours.figures().batches());
            assertEquals(2, PlanReport.of(planned).orElseThrow().predictions().total());
        }
    }

    /** A caller that goes on would take outputs of later rows for those of the failed batch. */
    @ParameterizedTest
    @EnumSource
    void predict_oneRowFails_saysWhichEndsAndOthersCanFollow(Kind kind) throws Exception {
        int bad = BATCH + 3;
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> ours = kind.predictor(model, 2)) {
            Iterator<float[]> outputs = ours.predict(withBadRow(kind, 3 * BATCH, bad).iterator());
            assertEquals(BATCH, Iterators.advance(outputs, BATCH));
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(kind == Kind.GROUPED ? bad : BATCH, failed.firstRow());
            assertEquals(kind == Kind.GROUPED ? 1 : BATCH, failed.rows());
            if (kind == Kind.OF_ONE_SIZE) {
                assertTrue(failed.getMessage().contains("rows 8 to 15"), failed.getMessage());
            }
            assertEnded(outputs);
            assertEquals(2, all(ours.predict(rows(kind, 2).iterator())).size());
            assertEnded(ours.predict(List.<float[]>of().iterator()));
        }
    }

    private static void assertRefused(Executable second) {
        assertEquals(
                "an earlier iteration has not ended",
                assertThrows(IllegalStateException.class, second).getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void next_anotherIterationHasBegun_isRefusedUntilThatHasEnded(Kind kind) throws Exception {
        List<float[]> rows = rows(kind, 5 * BATCH);
        List<float[]> bad = withBadRow(kind, BATCH, 3);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> ours = kind.predictor(model, 2)) {
            List<float[]> expected = all(ours.predict(rows.iterator()));
            Iterator<float[]> first = ours.predict(rows.iterator());
            Iterator<float[]> second = ours.predict(rows.iterator());
            assertArrayEquals(expected.get(0), first.next(), TOLERANCE);
            assertRefused(second::next);
            assertRefused(() -> ours.predict(rows.iterator()));
            assertSameOutputs(expected.subList(1, expected.size()), all(first));
            assertSameOutputs(expected, all(second));

            Iterator<float[]> failing = ours.predict(bad.iterator());
            Iterator<float[]> third = ours.predict(rows.iterator());
            assertThrows(RowFailedException.class, () -> all(failing));
            assertSameOutputs(expected, all(third));
        }
    }

    @Test
    void predict_lastBatchIsPartlyReturned_isRefusedUntilItIsReturned() throws Exception {
        List<float[]> rows = rows(Kind.OF_ONE_SIZE, BATCH);
        try (ZooModel<float[], float[]> planned = load(new Steps());
                RowPredictor<float[], float[]> ours = Kind.OF_ONE_SIZE.predictor(planned, 2)) {
            Iterator<float[]> first = ours.predict(rows.iterator());
            float[] head = first.next();
            assertRefused(() -> ours.predict(rows.iterator()));
            assertEquals(BATCH - 1, all(first).size());
            assertArrayEquals(head, ours.predict(rows.iterator()).next());
        }
    }

    /** Fails once, as a source does whose connection breaks. */
    private static Iterator<float[]> failingAt(int row, List<float[]> rows) {
        AtomicInteger read = new AtomicInteger();
        return Iterators.transform(
                rows.iterator(),
                each -> {
                    if (read.getAndIncrement() == row) {
                        throw new UncheckedIOException(new IOException("row " + row));
                    }
                    return each;
                });
    }

    @Test
    void next_inputsFail_endsAndOthersCanFollow() throws Exception {
        List<float[]> rows = rows(Kind.OF_ONE_SIZE, 6 * BATCH);
        try (ZooModel<float[], float[]> planned = load(new Steps());
                RowPredictor<float[], float[]> ours = Kind.OF_ONE_SIZE.predictor(planned, 2)) {
            List<float[]> expected = all(ours.predict(rows.iterator()));
            Iterator<float[]> outputs = ours.predict(failingAt(3 * BATCH + 2, rows));
            for (int i = 0; i < BATCH; i++) {
                assertArrayEquals(expected.get(i), outputs.next());
            }
            UncheckedIOException failed = assertThrows(UncheckedIOException.class, outputs::next);
            assertEquals("row " + (3 * BATCH + 2), failed.getCause().getMessage());
            assertEnded(outputs);
            assertSameOutputs(expected, all(ours.predict(rows.iterator())));
        }
    }

    @Test
    void predict_rowOverTheBound_runsAloneOrFailsWithSizes() throws Exception {
        List<float[]> rows = rows(Kind.GROUPED, 10);
        rows.set(4, new float[500]);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> grouped = new RowPredictor<>(model, tokens(100), 1);
                RowPredictor<float[], float[]> refusing =
                        new RowPredictor<>(model, tokens(100).refusingLargerRows(), 1)) {
            assertEquals(10, all(grouped.predict(rows.iterator())).size());
            Iterator<float[]> outputs = refusing.predict(rows.iterator());
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(4, failed.firstRow());
            assertInstanceOf(InputTooLargeException.class, failed.getCause().getCause());
            assertTrue(failed.getMessage().matches("(?s).*500 tokens.*100.*"), failed::toString);
            assertEquals(3, all(refusing.predict(rows.subList(0, 3).iterator())).size());
        }
    }

    /** Outputs are not cut, so the translator rejects outputs that are too long. */
    @Test
    void predict_predictionFails_saysOfWhichBatchAndOthersCanFollow() throws Exception {
        List<float[]> rows = rows(Kind.GROUPED, 6);
        try (ZooModel<float[], float[]> model = load(new Steps());
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, RowGrouping.ofTokens(1000), 1)) {
            Iterator<float[]> outputs = grouped.predict(rows.iterator());
            assertEquals(6, assertThrows(RowFailedException.class, outputs::next).rows());
            assertFalse(outputs.hasNext());
            assertEquals(1, all(grouped.predict(rows.subList(0, 1).iterator())).size());
        }
    }

    @Test
    void predict_modelReturnsFewerRows_failsWithBothNumbersAndOthersCanFollow() throws Exception {
        Block firstRow = new LambdaBlock(batch -> new NDList(batch.head().get(":1")));
        float[] row = {1, 2};
        try (ZooModel<float[], float[]> model = load(firstRow, new Steps());
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100), 2)) {
            Iterator<float[]> outputs = grouped.predict(List.of(row, row, row).iterator());
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(3, failed.rows());
            assertTrue(failed.getMessage().contains("1 outputs for a batch of 3 rows"));
            assertEquals(1, all(grouped.predict(List.of(row).iterator())).size());
        }
    }

    /** Returns a constant factor of features with each row, as it would a mask. */
    private static final class Weighted extends Steps {
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
            NDList inputs = super.processInput(context, values);
            inputs.add(factors);
            return inputs;
        }
    }

    @Test
    void predict_translatorReturnsTheSameArrayForEachRow_answersAsUngrouped() throws Exception {
        Block product = new LambdaBlock(inputs -> new NDList(inputs.get(0).mul(inputs.get(1))));
        List<float[]> rows = rows(Kind.GROUPED, 30);
        try (ZooModel<float[], float[]> model = load(product, new Weighted());
                RowPredictor<float[], float[]> ungrouped = new RowPredictor<>(model, 1, 2);
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100).withWindow(10), 2)) {
            assertSameOutputs(
                    all(ungrouped.predict(rows.iterator())), all(grouped.predict(rows.iterator())));
        }
    }

    @Test
    void predict_translatorThrowsAnError_closesTheRowsOfItsWindow() throws Exception {
        List<NDManager> managers = new ArrayList<>();
        Steps translator =
                new Steps() {
                    @Override
                    public NDList processInput(TranslatorContext context, float[] values) {
                        managers.add(context.getNDManager());
                        if (managers.size() == 3) {
                            throw new StackOverflowError();
                        }
                        return super.processInput(context, values);
                    }
                };
        try (ZooModel<float[], float[]> model = load(translator);
                RowPredictor<float[], float[]> grouped =
                        new RowPredictor<>(model, tokens(100), 1)) {
            Iterator<float[]> outputs = grouped.predict(rows(Kind.GROUPED, 5).iterator());
            assertThrows(StackOverflowError.class, outputs::next);
            assertEquals(3, managers.size());
            assertTrue(managers.stream().noneMatch(NDManager::isOpen));
        }
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("djl-plan-rows"))
                .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @EnumSource
    void close_batchesUnderWay_endsWithThem(Kind kind) throws Exception {
        Set<Thread> earlier = threads();
        try (ZooModel<float[], float[]> model = load(new Steps())) {
            RowPredictor<float[], float[]> ours = kind.predictor(model, 4);
            Iterator<float[]> outputs = ours.predict(rows(kind, 200).iterator());
            assertTrue(outputs.next().length > 0);
            ours.close();
            assertThrows(IllegalStateException.class, () -> all(outputs));
            for (Thread thread : Sets.difference(threads(), earlier)) {
                // The thread may be at its last instructions. An idle worker would live for five
                // seconds.
                thread.join(4000);
                assertFalse(thread.isAlive(), thread.getName());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void predict_oneAtATime_doesNotWaitForItself(Kind kind) throws Exception {
        Criteria<float[], float[]> criteria =
                criteria(new Steps()).optArgument("memplan.maxPredictions", "1").build();
        try (ZooModel<float[], float[]> model = criteria.loadModel();
                RowPredictor<float[], float[]> ours = kind.predictor(model, 2)) {
            assertEquals(40, all(ours.predict(rows(kind, 40).iterator())).size());
        }
    }

    @Test
    void new_sizesOfNothing_areRefused() throws Exception {
        try (ZooModel<float[], float[]> model = load(new Steps())) {
            List<Executable> refused =
                    List.of(
                            () -> new RowPredictor<>(model, 0, 1),
                            () -> new RowPredictor<>(model, 1, 0),
                            () -> RowGrouping.ofTokens(0),
                            () -> tokens(5).withWindow(0));
            refused.forEach(each -> assertThrows(IllegalArgumentException.class, each));
        }
    }
}
