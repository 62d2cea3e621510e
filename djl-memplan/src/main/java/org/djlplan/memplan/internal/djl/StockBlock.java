package org.djlplan.memplan.internal.djl;

import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Creates a model's block as DJL would without djl-plan, for the block factory. */
public final class StockBlock {

    private StockBlock() {}

    /**
     * Returns the block that a factory creates or, without one, the block of the model's
     * TorchScript file.
     *
     * @throws IOException if the file cannot be loaded
     */
    public static Block of(
            Model model, Path modelPath, Map<String, ?> arguments, Optional<BlockFactory> factory)
            throws IOException {
        if (factory.isPresent()) {
            return factory.get().newBlock(model, modelPath, arguments);
        }
        return load(model, modelPath, model.getName());
    }

    /**
     * Returns the block of a TorchScript file, which lives as long as the model.
     *
     * @param folder of the file
     * @param name of the file without its ending
     * @throws IOException if the file cannot be loaded
     */
    static Block load(Model model, Path folder, String name) throws IOException {
        NDManager manager = model.getNDManager();
        Model loaded =
                Model.newInstance(
                        model.getName(), manager.getDevice(), manager.getEngine().getEngineName());
        // Closed with the model; it must be reachable until then, because its finalizer closes it,
        // too.
        manager.attachInternal("djl-plan-" + System.identityHashCode(loaded), loaded);
        try {
            loaded.load(folder, name);
        } catch (MalformedModelException e) {
            throw new IOException(e);
        }
        return loaded.getBlock();
    }
}
