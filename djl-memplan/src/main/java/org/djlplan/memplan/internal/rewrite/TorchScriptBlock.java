package org.djlplan.memplan.internal.rewrite;

import ai.djl.nn.Block;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.internal.rewrite.Recipe.Replacement;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter.RefusedException;

/**
 * The block of a TorchScript model in DJL's engine, and the module behind it. DJL has no API to
 * replace the module, so this class uses the block's fields.
 *
 * @param block DJL's block
 * @param handle its field with the native address of the module
 */
public record TorchScriptBlock(Block block, AtomicReference<Long> handle) implements AutoCloseable {

    /**
     * Reads the fields of a block.
     *
     * @throws ReflectiveOperationException if the engine has other fields
     */
    @SuppressWarnings("unchecked") // declared so by the engine
    public static TorchScriptBlock of(Block block) throws ReflectiveOperationException {
        return new TorchScriptBlock(block, (AtomicReference<Long>) field(block, "handle"));
    }

    private static Object field(Block block, String name) throws ReflectiveOperationException {
        Field field = block.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(block);
    }

    /** Returns the native address of the module. */
    public long module() {
        return handle.get();
    }

    /**
     * Returns a new block with a rewritten module. It belongs to the same manager.
     *
     * @throws RefusedException if libtorch refuses
     */
    public TorchScriptBlock rewritten(ModuleRewriter rewriter, Recipe recipe)
            throws RefusedException, ReflectiveOperationException {
        Object manager = field(block, "manager");
        Constructor<?> constructor =
                block.getClass().getConstructor(manager.getClass(), long.class);
        long module = recipe.base().apply(rewriter, module());
        TorchScriptBlock rewritten = of((Block) constructor.newInstance(manager, module));
        try {
            for (Replacement each : recipe.replacements()) {
                rewriter.replace(module, each.pattern(), each.replacement());
            }
            return rewritten;
        } catch (RefusedException e) {
            rewritten.close();
            throw e;
        }
    }

    /** Exchanges the modules of two blocks. */
    public void exchange(TorchScriptBlock other) {
        other.handle.set(handle.getAndSet(other.module()));
    }

    /** Deletes the module. */
    @Override
    public void close() {
        try {
            ((AutoCloseable) block).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
