package org.djlplan.memplan.internal.rewrite;

import ai.djl.nn.Parameter;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.Uses;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.thread.Later;

/**
 * The module of a TorchScript model in service. Another module can replace it while predictions
 * run: the replaced module is deleted once none of them uses it. Thread-safe.
 */
public final class ModuleInService {

    private final TorchScriptBlock block;

    /** The predictions that may use the current module. */
    private volatile Uses current = new Uses();

    /**
     * @param block of the loaded model
     */
    public ModuleInService(TorchScriptBlock block) {
        this.block = block;
    }

    /** Runs a forward pass of the block. */
    public <T> T run(Supplier<T> pass) {
        Uses uses = current;
        while (!uses.begin()) {
            uses = current;
        }
        try {
            return pass.get();
        } finally {
            uses.end();
        }
    }

    /**
     * Builds a module by a recipe, warms it up, and lets it replace the current one. The weights of
     * the current one are freed, and arrays of its parameters are closed.
     *
     * @param recipe how to rewrite the module that DJL loaded
     * @param warmUp runs predictions of a block, as many as are needed until it is fast
     * @throws Exception if the module cannot be built or run; the current one stays
     */
    public void rewrite(ModuleRewriter rewriter, Recipe recipe, Consumer<TorchScriptBlock> warmUp)
            throws Exception {
        TorchScriptBlock rewritten = block.rewritten(rewriter, recipe);
        try {
            warmUp.accept(rewritten);
        } catch (RuntimeException | Error e) {
            rewritten.close();
            throw e;
        }
        block.exchange(rewritten);
        // A prediction that uses the old one from here on uses the new module.
        Uses old = current;
        current = new Uses();
        block.block().getParameters().values().forEach(Parameter::close);
        old.close(() -> Later.run(Duration.ZERO, () -> free(rewritten)));
    }

    private static void free(TorchScriptBlock replaced) {
        replaced.close();
        ProcessMemory.trim();
    }
}
