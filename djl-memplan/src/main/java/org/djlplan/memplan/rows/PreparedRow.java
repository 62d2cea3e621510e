package org.djlplan.memplan.rows;

import ai.djl.Model;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A pre-processed row, and the data that its translator keeps for post-processing. */
final class PreparedRow implements TranslatorContext {

    private final long number;
    private final Model model;
    private final NDManager predictorManager;
    private final NDManager manager;
    private final Map<String, Object> attachments = new HashMap<>();
    private NDList arrays = new NDList();

    /**
     * @param number of the row; the iterator's first row is 0
     * @param predictorManager manager of arrays that outlive the row
     */
    PreparedRow(long number, Model model, NDManager predictorManager) {
        this.number = number;
        this.model = model;
        this.predictorManager = predictorManager;
        manager = predictorManager.newSubManager();
    }

    /**
     * Pre-processes the row. Arrays of other managers stay with them, because the translator may
     * return such an array, for example a constant mask, for each row.
     */
    <I> void process(Translator<I, ?> translator, I input) throws Exception {
        arrays = translator.processInput(this, input);
    }

    long number() {
        return number;
    }

    NDList arrays() {
        return arrays;
    }

    /** Returns the number of tokens of the row: the longest first dimension of its inputs. */
    long length() {
        return arrays.stream()
                .filter(array -> array.getShape().dimension() > 0)
                .mapToLong(array -> array.getShape().get(0))
                .max()
                .orElse(1);
    }

    /**
     * Returns the inputs padded with zeros, as masks require, to the longest of a batch.
     *
     * @param longest longest first dimension of each input
     * @param in manager of the padded arrays
     */
    NDList padded(long[] longest, NDManager in) {
        NDList list = new NDList(arrays.size());
        for (int i = 0; i < arrays.size(); i++) {
            NDArray array = arrays.get(i);
            if (array.getShape().dimension() == 0 || array.getShape().get(0) == longest[i]) {
                list.add(array);
                continue;
            }
            long[] rest = array.getShape().getShape().clone();
            rest[0] = longest[i] - rest[0];
            NDArray zeros = in.zeros(new Shape(rest), array.getDataType());
            NDArray whole = array.concat(zeros, 0);
            whole.attach(in);
            list.add(whole);
        }
        return list;
    }

    @Override
    public Model getModel() {
        return model;
    }

    @Override
    public NDManager getNDManager() {
        return manager;
    }

    @Override
    public NDManager getPredictorManager() {
        return predictorManager;
    }

    @Override
    public Block getBlock() {
        return model.getBlock();
    }

    @Override
    public @Nullable Metrics getMetrics() {
        return null;
    }

    @Override
    public Object getAttachment(String key) {
        return attachments.get(key);
    }

    @Override
    public void setAttachment(String key, Object value) {
        attachments.put(key, value);
    }

    @Override
    public void close() {
        manager.close();
    }
}
