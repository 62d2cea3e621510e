package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.translate.TranslatorContext;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context of a translator that translates a part of a predictor's call. Its arrays are closed
 * with it.
 */
public class PartContext implements TranslatorContext {

    private final Model model;
    private final Block block;
    private final NDManager predictorManager;
    private final NDManager manager;
    private final Map<String, Object> attachments = new HashMap<>();

    /**
     * @param block runs the part's inputs
     * @param predictorManager manager of arrays that outlive the part
     */
    public PartContext(Model model, Block block, NDManager predictorManager) {
        this.model = model;
        this.block = block;
        this.predictorManager = predictorManager;
        manager = predictorManager.newSubManager();
    }

    @Override
    public final Model getModel() {
        return model;
    }

    @Override
    public final NDManager getNDManager() {
        return manager;
    }

    @Override
    public final NDManager getPredictorManager() {
        return predictorManager;
    }

    @Override
    public final Block getBlock() {
        return block;
    }

    @Override
    public final @Nullable Metrics getMetrics() {
        return null;
    }

    @Override
    public final @Nullable Object getAttachment(String key) {
        return attachments.get(key);
    }

    @Override
    public final void setAttachment(String key, Object value) {
        attachments.put(key, value);
    }

    @Override
    public final void close() {
        manager.close();
    }
}
