package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.metrics.RowMetrics;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.rows.RowFailedException;
import org.djlplan.memplan.rows.RowFigures;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Tests rows in batches of one size. */
@OnEveryDjl
class RowPredictorTest {

    private static final int BATCH = 8;
    private static final int ROWS = 21;
    private static final int VALUES = 3 * 32 * 32;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void copyModel() throws Exception {
        Torch.threads(1);
        file = Torch.copy(TorchScriptModels.named("cnn"), folder);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    private static class Rows implements Translator<float[], float[]> {
        @Override
        public NDList processInput(TranslatorContext context, float[] values) {
            if (Float.isNaN(values[0])) {
                throw new IllegalArgumentException("not a number");
            }
            return new NDList(context.getNDManager().create(values, new Shape(3, 32, 32)));
        }

        @Override
        public float[] processOutput(TranslatorContext context, NDList outputs) {
            return outputs.head().toFloatArray();
        }

        @Override
        public Batchifier getBatchifier() {
            return Batchifier.STACK;
        }
    }

    /** Delays the first batch's outputs until the second batch is pre-processed. */
    private static final class Overlapping extends Rows {
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

    private ZooModel<float[], float[]> load(boolean planned) throws Exception {
        return load(planned, new Rows());
    }

    private ZooModel<float[], float[]> load(boolean planned, Rows translator) throws Exception {
        Criteria.Builder<float[], float[]> criteria =
                Criteria.builder()
                        .setTypes(float[].class, float[].class)
                        .optEngine("PyTorch")
                        .optModelPath(file);
        return (planned
                        ? criteria.optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(translator)
                                        .with("delegation.enabled", false))
                        : criteria.optTranslator(translator))
                .build()
                .loadModel();
    }

    private static List<float[]> rows(int count) {
        Random random = new Random(1);
        return Stream.generate(
                        () -> {
                            float[] values = new float[VALUES];
                            for (int i = 0; i < VALUES; i++) {
                                values[i] = random.nextFloat();
                            }
                            return values;
                        })
                .limit(count)
                .toList();
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
    void predict_lastBatchIsSmaller_answersOfStockInOrderByOnePlan() throws Exception {
        List<float[]> rows = rows(ROWS);
        try (ZooModel<float[], float[]> stock = load(false);
                ZooModel<float[], float[]> planned = load(true);
                Predictor<float[], float[]> predictor = stock.newPredictor();
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            List<float[]> expected = new ArrayList<>();
            for (int first = 0; first < ROWS; first += BATCH) {
                List<float[]> batch =
                        new ArrayList<>(rows.subList(first, Math.min(first + BATCH, ROWS)));
                while (batch.size() < BATCH) {
                    batch.add(batch.get(batch.size() - 1));
                }
                expected.addAll(predictor.batchPredict(batch));
            }
            Watched watched = new Watched(rows);
            Iterator<float[]> outputs = ours.predict(watched);
            for (int i = 0; i < ROWS; i++) {
                assertTrue(outputs.hasNext());
                assertArrayEquals(expected.get(i), outputs.next(), "row " + i);
                watched.returned++;
            }
            assertFalse(outputs.hasNext());
            assertThrows(NoSuchElementException.class, outputs::next);
            // Two batches are being predicted, and one is being returned.
            assertTrue(watched.mostAhead <= 3 * BATCH, watched.mostAhead + " rows ahead");

            RowFigures figures = ours.figures();
            assertEquals(ROWS, figures.rows());
            assertEquals(3, figures.batches());
            assertEquals(3 * BATCH - ROWS, figures.paddedRows());
            assertTrue(figures.predictNanos() > 0);
            PlanReport.Predictions predictions = PlanReport.of(planned).orElseThrow().predictions();
            assertEquals(3, predictions.total());
            assertEquals(0, predictions.unplannedAllocations());
        }
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void predict_twoThreads_twoBatchesAreUnderWayAtOnce() throws Exception {
        List<float[]> rows = rows(2 * BATCH);
        Overlapping translator = new Overlapping();
        try (ZooModel<float[], float[]> planned = load(true, translator);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            List<float[]> outputs = new ArrayList<>();

            ours.predict(rows.iterator()).forEachRemaining(outputs::add);

            assertEquals(2 * BATCH, outputs.size());
            assertEquals(2, ours.figures().batches());
            PlanReport.Predictions predictions = PlanReport.of(planned).orElseThrow().predictions();
            assertEquals(2, predictions.total());
        }
    }

    @Test
    void meters_bound_followThePredictor() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            new RowMetrics("cnn", ours).bindTo(registry);
            assertEquals(0, rows(registry, "djlplan.rows"));

            ours.predict(rows(ROWS).iterator()).forEachRemaining(each -> {});

            assertEquals(ROWS, rows(registry, "djlplan.rows"));
            assertEquals(3 * BATCH - ROWS, rows(registry, "djlplan.rows.padded"));
            FunctionTimer batches =
                    registry.get("djlplan.rows.batches").tag("model", "cnn").functionTimer();
            assertEquals(3, batches.count());
            assertEquals(
                    (double) ours.figures().predictNanos(),
                    batches.totalTime(TimeUnit.NANOSECONDS),
                    1);
        }
    }

    private static double rows(MeterRegistry registry, String meter) {
        return registry.get(meter).tag("model", "cnn").functionCounter().count();
    }

    @Test
    void predict_oneRowFails_saysWhichAndOthersCanFollow() throws Exception {
        List<float[]> rows = new ArrayList<>(rows(3 * BATCH));
        float[] bad = new float[VALUES];
        Arrays.fill(bad, Float.NaN);
        rows.set(BATCH + 3, bad);
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            Iterator<float[]> outputs = ours.predict(rows.iterator());
            for (int i = 0; i < BATCH; i++) {
                assertEquals(10, outputs.next().length);
            }
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(BATCH, failed.firstRow());
            assertEquals(BATCH, failed.rows());
            assertTrue(failed.getMessage().contains("rows 8 to 15"), failed.getMessage());

            Iterator<float[]> others = ours.predict(rows(2).iterator());
            assertEquals(10, others.next().length);
            assertEquals(10, others.next().length);
            assertFalse(others.hasNext());
        }
    }

    /** Returns the outputs of an iteration that has the predictor for itself. */
    private static List<float[]> alone(RowPredictor<float[], float[]> ours, List<float[]> rows) {
        return rest(ours.predict(rows.iterator()));
    }

    private static List<float[]> rest(Iterator<float[]> outputs) {
        List<float[]> rest = new ArrayList<>();
        outputs.forEachRemaining(rest::add);
        return rest;
    }

    private static void assertSameOutputs(List<float[]> expected, List<float[]> outputs) {
        assertEquals(expected.size(), outputs.size());
        for (int i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i), outputs.get(i), "row " + i);
        }
    }

    private static void assertRefused(Executable second) {
        assertEquals(
                "an earlier iteration has not ended",
                assertThrows(IllegalStateException.class, second).getMessage());
    }

    @Test
    void next_anotherIterationHasBegun_isRefusedUntilThatHasEnded() throws Exception {
        List<float[]> rows = rows(5 * BATCH);
        List<float[]> ofFirst = rows.subList(0, 3 * BATCH);
        List<float[]> ofSecond = rows.subList(3 * BATCH, 5 * BATCH);
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            List<float[]> expectedFirst = alone(ours, ofFirst);
            List<float[]> expectedSecond = alone(ours, ofSecond);
            Iterator<float[]> first = ours.predict(ofFirst.iterator());
            Iterator<float[]> second = ours.predict(ofSecond.iterator());
            assertArrayEquals(expectedFirst.get(0), first.next());

            assertRefused(second::next);
            assertRefused(() -> ours.predict(ofSecond.iterator()));

            assertSameOutputs(expectedFirst.subList(1, expectedFirst.size()), rest(first));
            assertSameOutputs(expectedSecond, rest(second));
        }
    }

    @Test
    void predict_lastBatchIsPartlyReturned_isRefusedUntilItIsReturned() throws Exception {
        List<float[]> rows = rows(2 * BATCH);
        List<float[]> ofFirst = rows.subList(0, BATCH);
        List<float[]> ofSecond = rows.subList(BATCH, 2 * BATCH);
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            List<float[]> expectedFirst = alone(ours, ofFirst);
            List<float[]> expectedSecond = alone(ours, ofSecond);
            Iterator<float[]> first = ours.predict(ofFirst.iterator());
            assertArrayEquals(expectedFirst.get(0), first.next());

            assertRefused(() -> ours.predict(ofSecond.iterator()));

            assertSameOutputs(expectedFirst.subList(1, BATCH), rest(first));
            assertSameOutputs(expectedSecond, alone(ours, ofSecond));
        }
    }

    private static void assertEnded(Iterator<float[]> outputs) {
        assertFalse(outputs.hasNext());
        assertThrows(NoSuchElementException.class, outputs::next);
    }

    /** A caller that goes on would take outputs of later rows for those of the failed batch. */
    @Test
    void next_afterARowFailed_hasNoMoreOutputs() throws Exception {
        List<float[]> rows = new ArrayList<>(rows(6 * BATCH));
        float[] bad = new float[VALUES];
        Arrays.fill(bad, Float.NaN);
        rows.set(3, bad);
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            Iterator<float[]> outputs = ours.predict(rows.iterator());
            assertThrows(RowFailedException.class, outputs::next);
            assertEnded(outputs);
        }
    }

    /** Fails once, as a source does whose connection breaks. */
    private static Iterator<float[]> failingAt(int row, List<float[]> rows) {
        Iterator<float[]> all = rows.iterator();
        return new Iterator<>() {
            private int read;

            @Override
            public boolean hasNext() {
                return all.hasNext();
            }

            @Override
            public float[] next() {
                if (read++ == row) {
                    throw new UncheckedIOException(new IOException("row " + row));
                }
                return all.next();
            }
        };
    }

    @Test
    void next_inputsFail_endsAndOthersCanFollow() throws Exception {
        List<float[]> rows = rows(6 * BATCH);
        try (ZooModel<float[], float[]> planned = load(true);
                RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, BATCH, 2)) {
            List<float[]> expected = alone(ours, rows);
            Iterator<float[]> outputs = ours.predict(failingAt(3 * BATCH + 2, rows));
            for (int i = 0; i < BATCH; i++) {
                assertArrayEquals(expected.get(i), outputs.next());
            }
            UncheckedIOException failed = assertThrows(UncheckedIOException.class, outputs::next);
            assertEquals("row " + (3 * BATCH + 2), failed.getCause().getMessage());
            assertEnded(outputs);
            assertSameOutputs(expected, alone(ours, rows));
        }
    }

    @Test
    void close_batchesUnderWay_endsWithThem() throws Exception {
        Set<Thread> earlier = threads();
        try (ZooModel<float[], float[]> planned = load(true)) {
            Iterator<float[]> outputs;
            try (RowPredictor<float[], float[]> ours = new RowPredictor<>(planned, 1, 4)) {
                outputs = ours.predict(rows(100).iterator());
                assertEquals(10, outputs.next().length);
            }
            assertThrows(IllegalStateException.class, outputs::next);
            for (Thread thread : Sets.difference(threads(), earlier)) {
                // The thread may be at its last instructions. An idle worker would live for five
                // seconds.
                thread.join(4000);
                assertFalse(thread.isAlive(), thread.getName());
            }
        }
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("djl-plan-rows"))
                .collect(Collectors.toSet());
    }

    @Test
    void new_noRowsOrThreads_isRefused() throws Exception {
        try (ZooModel<float[], float[]> stock = load(false)) {
            assertThrows(IllegalArgumentException.class, () -> new RowPredictor<>(stock, 0, 1));
            assertThrows(IllegalArgumentException.class, () -> new RowPredictor<>(stock, 1, 0));
        }
    }
}
