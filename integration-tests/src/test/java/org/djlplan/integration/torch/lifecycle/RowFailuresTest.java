package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.rows.RowFailedException;
import org.djlplan.memplan.rows.RowGrouping;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Iterators;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests rows, batches and translators that fail: the caller knows which, and others can follow. */
class RowFailuresTest extends RowTests {

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
            assertEquals(2, predict(ours, rows(kind, 2)).size());
            assertEnded(ours.predict(List.<float[]>of().iterator()));
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
            List<float[]> expected = predict(ours, rows);
            Iterator<float[]> outputs = ours.predict(failingAt(3 * BATCH + 2, rows));
            for (int i = 0; i < BATCH; i++) {
                assertArrayEquals(expected.get(i), outputs.next());
            }
            UncheckedIOException failed = assertThrows(UncheckedIOException.class, outputs::next);
            assertEquals("row " + (3 * BATCH + 2), failed.getCause().getMessage());
            assertEnded(outputs);
            assertSameOutputs(expected, predict(ours, rows));
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
            assertEquals(10, predict(grouped, rows).size());
            Iterator<float[]> outputs = refusing.predict(rows.iterator());
            RowFailedException failed = assertThrows(RowFailedException.class, outputs::next);
            assertEquals(4, failed.firstRow());
            assertInstanceOf(InputTooLargeException.class, failed.getCause().getCause());
            assertTrue(failed.getMessage().matches("(?s).*500 tokens.*100.*"), failed::toString);
            assertEquals(3, predict(refusing, rows.subList(0, 3)).size());
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
            assertEquals(1, predict(grouped, rows.subList(0, 1)).size());
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
            assertEquals(1, predict(grouped, List.of(row)).size());
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
}
