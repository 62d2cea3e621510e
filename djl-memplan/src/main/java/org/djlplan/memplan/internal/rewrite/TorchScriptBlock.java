package org.djlplan.memplan.internal.rewrite;

import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
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

    private static final String DELETER = "ai.djl.pytorch.jni.JniUtils";

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
        TorchScriptBlock rewritten = withModule(recipe.base().apply(rewriter, module()));
        try {
            for (Replacement each : recipe.replacements()) {
                rewriter.replace(rewritten.module(), each.pattern(), each.replacement());
            }
            return rewritten;
        } catch (RefusedException e) {
            rewritten.close();
            throw e;
        }
    }

    private TorchScriptBlock withModule(long module) throws ReflectiveOperationException {
        try {
            Object manager = field(block, "manager");
            return of(
                    (Block)
                            block.getClass()
                                    .getConstructor(manager.getClass(), long.class)
                                    .newInstance(manager, module));
        } catch (ReflectiveOperationException e) {
            // For example because the manager is closed.
            Class.forName(DELETER, true, block.getClass().getClassLoader())
                    .getMethod("deleteModule", long.class)
                    .invoke(null, module);
            throw e;
        }
    }

    /**
     * Lets an object be closed in place of the block when the block's manager is closed. It must
     * close the block.
     */
    public void closeWith(AutoCloseable replacement) throws ReflectiveOperationException {
        ((NDManager) field(block, "manager"))
                .attachInternal((String) field(block, "uid"), replacement);
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
