package org.djlplan.integration.current;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.util.ArrayList;
import java.util.List;

/**
 * Translates batches with the methods that DJL calls since 0.35.1. They have no {@code @Override},
 * because this class is compiled against DJL 0.27.0, which does not have them; at run time they
 * override by name and types.
 */
final class BatchingTranslator implements Translator<float[], float[]> {

    private int batches;

    /** Returns how many batches were translated to outputs. */
    int batches() {
        return batches;
    }

    /** Doubles the inputs, so that the outputs of batches differ from those of single inputs. */
    public NDList batchProcessInput(TranslatorContext context, List<float[]> inputs) {
        NDList rows = new NDList();
        inputs.forEach(input -> rows.add(context.getNDManager().create(input).mul(2)));
        return new NDList(NDArrays.stack(rows));
    }

    /** Returns the rows of the output. */
    public List<float[]> batchProcessOutput(TranslatorContext context, NDList outputs) {
        batches++;
        List<float[]> rows = new ArrayList<>();
        NDArray all = outputs.head();
        for (int i = 0; i < all.getShape().get(0); i++) {
            rows.add(all.get(i).toFloatArray());
        }
        return rows;
    }

    @Override
    public NDList processInput(TranslatorContext context, float[] input) {
        return new NDList(context.getNDManager().create(input));
    }

    @Override
    public float[] processOutput(TranslatorContext context, NDList outputs) {
        throw new AssertionError("outputs are translated in batches");
    }
}
