package org.djlplan.memplan;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.internal.djl.ModelPlanning;
import org.djlplan.memplan.internal.djl.StockBlock;

/**
 * A block factory that needs no code: it plans a PyTorch model's memory in applications that cannot
 * set a translator factory. For a TorchScript file, the model's {@code serving.properties} has
 * these lines:
 *
 * <pre>
 * blockFactory=org.djlplan.memplan.PlannedBlockFactory
 * option.hasParameter=false
 * </pre>
 *
 * <p>For an imperative block, set {@code memplan.blockFactory} to the factory of the block, and
 * leave out {@code option.hasParameter}.
 *
 * <p>DJL creates this factory from its name, so options that only the application may set must be
 * system properties: {@code -Ddjlplan.KEY=VALUE}.
 */
public final class PlannedBlockFactory implements BlockFactory {

    private static final long serialVersionUID = 1L;

    /**
     * Returns a planned block.
     *
     * @throws IllegalArgumentException if an option is unknown or has an invalid value
     * @throws IOException if the model's file cannot be loaded; with {@code memplan.required} also
     *     if the model cannot be planned (the cause is a {@link NotPlannedException})
     */
    @Override
    public Block newBlock(Model model, Path modelPath, Map<String, ?> arguments)
            throws IOException {
        ModelPlanning planning;
        try {
            planning = new ModelPlanning(Map.of(), arguments, Optional.empty());
        } catch (Error e) {
            Optional<NotPlannedException> refusal =
                    MissingClasses.leaveAsStock(model.getName(), Map.of(), arguments, e);
            if (refusal.isPresent()) {
                throw new IOException(refusal.get().getMessage(), refusal.get());
            }
            Optional<BlockFactory> factory =
                    MissingClasses.named(BlockFactory.class, "memplan.blockFactory", arguments);
            return StockBlock.of(model, modelPath, arguments, factory);
        }
        return planning.newBlock(model, modelPath, arguments);
    }
}
