package org.djlplan.memplan.djl;

import ai.djl.BaseModel;
import ai.djl.Model;
import ai.djl.nn.Block;
import java.lang.reflect.Field;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a model keeps its block. */
final class BlockSlot {

    private static final Logger logger = LoggerFactory.getLogger(BlockSlot.class);

    private BlockSlot() {}

    /**
     * Gives a model another block. {@link Model#setBlock} also makes it forget that it was loaded,
     * so that training would leave frozen parameters frozen; that is undone.
     */
    static void replace(Model model, Block block) {
        if (!(model instanceof BaseModel)) {
            model.setBlock(block);
            return;
        }
        try {
            Field loaded = BaseModel.class.getDeclaredField("wasLoaded");
            loaded.setAccessible(true);
            boolean before = loaded.getBoolean(model);
            model.setBlock(block);
            loaded.setBoolean(model, before);
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("training will not unfreeze the parameters of {}", model.getName(), e);
            model.setBlock(block);
        }
    }
}
