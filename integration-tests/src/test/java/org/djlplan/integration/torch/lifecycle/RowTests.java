package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.rows.RowGrouping;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Loads a model that takes series of steps, and makes rows for it. */
@OnEveryDjl
@Timeout(value = 5, unit = TimeUnit.MINUTES)
abstract class RowTests {

    static final int BATCH = 8;
    static final int FEATURES = 24;

    /** Tolerance for an output's values, because regrouping changes the last digits. */
    static final float TOLERANCE = 1e-5f;

    /** How rows become batches. A batch has eight rows, or a window of eight rows is grouped. */
    enum Kind {
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
    static class Steps implements Translator<float[], float[]> {
        final AtomicInteger processed = new AtomicInteger();

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

    Criteria.Builder<float[], float[]> criteria(Translator<float[], float[]> translator) {
        return Criteria.builder()
                .setTypes(float[].class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(file)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(translator)
                                .with("delegation.enabled", false));
    }

    ZooModel<float[], float[]> load(Translator<float[], float[]> translator) throws Exception {
        return criteria(translator).build().loadModel();
    }

    /** Loads a block that the test makes, which was saved as a model. */
    ZooModel<float[], float[]> load(Block block, Translator<float[], float[]> translator)
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
    static List<float[]> rows(Kind kind, int count) {
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
    static List<float[]> withBadRow(Kind kind, int count, int bad) {
        List<float[]> rows = rows(kind, count);
        rows.set(bad, new float[0]);
        return rows;
    }

    static RowGrouping tokens(long most) {
        return RowGrouping.ofTokens(most).withOutputsOfTokens();
    }

    static List<float[]> predict(RowPredictor<float[], float[]> predictor, List<float[]> rows) {
        return Lists.newArrayList(predictor.predict(rows.iterator()));
    }

    static void assertSameOutputs(List<float[]> expected, List<float[]> outputs) {
        assertEquals(expected.size(), outputs.size());
        for (int i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i), outputs.get(i), TOLERANCE, "row " + i);
        }
    }

    static void assertEnded(Iterator<float[]> outputs) {
        assertFalse(outputs.hasNext());
        assertThrows(NoSuchElementException.class, outputs::next);
    }
}
