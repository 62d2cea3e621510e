package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.djlplan.delegation.choice.LearntCosts;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.store.CpuFeatures;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.StoreKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where what was learnt of all models is kept: in the cache folder, once for each engine, delegate
 * and CPU. Problems with files are reported in a warning, once, and costs are the default ones.
 */
public final class LearntCostsStore {

    private static final Logger logger = LoggerFactory.getLogger(LearntCostsStore.class);

    /** In place of a model's name. */
    private static final String ALL_MODELS = "all-models";

    private LearntCostsStore() {}

    /** Returns the costs that hold for a model. */
    public static LearntCosts load(DelegableModel model) {
        return store(model).load(key(model)).orElse(LearntCosts.defaults());
    }

    /**
     * Learns from a profiled model and keeps it. If two JVMs do at once, one's is lost.
     *
     * @param nodes of the model, each a CPU kernel or a delegate kernel
     * @param threads that it ran with, −1 for the engine's default
     */
    public static void learn(DelegableModel model, List<NodeTime> nodes, int threads) {
        LearntCosts learnt = load(model).learn(model.graph(), nodes, threads);
        try {
            Files.createDirectories(model.cacheFolder());
        } catch (IOException e) {
            logger.debug("No folder {}; the store reports what comes of that", e.getMessage(), e);
        }
        store(model).save(key(model), learnt);
    }

    private static FolderStore<LearntCosts> store(DelegableModel model) {
        return FolderStore.at(new LearntCostsCodec(), model.cacheFolder(), model.cacheFolder());
    }

    private static StoreKey key(DelegableModel model) {
        return new StoreKey(
                ALL_MODELS,
                ImmutableMap.<String, String>builder()
                        .putAll(model.facts())
                        .put("cpu", CpuFeatures.current())
                        .buildOrThrow());
    }
}
