package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorContext;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.djlplan.memplan.metrics.RowMetrics;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.rows.RowFailedException;
import org.djlplan.memplan.rows.RowFigures;
import org.djlplan.memplan.rows.RowGrouping;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests rows in batches of one size, and rows of different lengths, grouped by length. */
class RowPredictorTest extends RowTests {

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
            assertSameOutputs(expected, predict(grouped, rows));
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
            assertEquals(2 * BATCH, predict(ours, rows).size());
            assertEquals(2, ours.figures().batches());
            assertEquals(2, PlanReport.of(planned).orElseThrow().predictions().total());
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
            assertSameOutputs(predict(ungrouped, rows), predict(grouped, rows));
        }
    }

    @ParameterizedTest
    @EnumSource
    void predict_oneAtATime_doesNotWaitForItself(Kind kind) throws Exception {
        Criteria<float[], float[]> criteria =
                criteria(new Steps()).optArgument("memplan.maxPredictions", "1").build();
        try (ZooModel<float[], float[]> model = criteria.loadModel();
                RowPredictor<float[], float[]> ours = kind.predictor(model, 2)) {
            assertEquals(40, predict(ours, rows(kind, 40)).size());
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
            List<float[]> expected = predict(ours, rows);
            Iterator<float[]> first = ours.predict(rows.iterator());
            Iterator<float[]> second = ours.predict(rows.iterator());
            assertArrayEquals(expected.get(0), first.next(), TOLERANCE);
            assertRefused(second::next);
            assertRefused(() -> ours.predict(rows.iterator()));
            assertSameOutputs(expected.subList(1, expected.size()), Lists.newArrayList(first));
            assertSameOutputs(expected, Lists.newArrayList(second));

            Iterator<float[]> failing = ours.predict(bad.iterator());
            Iterator<float[]> third = ours.predict(rows.iterator());
            assertThrows(RowFailedException.class, () -> Lists.newArrayList(failing));
            assertSameOutputs(expected, Lists.newArrayList(third));
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
            assertEquals(BATCH - 1, Lists.newArrayList(first).size());
            assertArrayEquals(head, ours.predict(rows.iterator()).next());
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
            assertThrows(IllegalStateException.class, () -> Lists.newArrayList(outputs));
            for (Thread thread : Sets.difference(threads(), earlier)) {
                // The thread may be at its last instructions. An idle worker would live for five
                // seconds.
                thread.join(4000);
                assertFalse(thread.isAlive(), thread.getName());
            }
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
