package org.djlplan.memplan.internal.rewrite;

import ai.djl.nn.Parameter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.thread.Later;

/**
 * The module of a TorchScript model in service. It can be closed, and another module can replace
 * it, while predictions run: a module is deleted once none of them uses it. Thread-safe.
 */
public final class ModuleInService implements AutoCloseable {

    private final TorchScriptBlock block;
    private volatile Version current = new Version();
    private volatile boolean closed;

    /** The predictions that may use one module. */
    private static final class Version {

        /** One more than the number of predictions, until the module was replaced or closed. */
        private final AtomicInteger uses = new AtomicInteger(1);

        /** Runs when the module was replaced or closed, and no prediction uses it any more. */
        private volatile Runnable end = () -> {};

        boolean enter() {
            return uses.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0;
        }

        void leave() {
            if (uses.decrementAndGet() == 0) {
                end.run();
            }
        }
    }

    /**
     * @param block of the loaded model
     */
    public ModuleInService(TorchScriptBlock block) {
        this.block = block;
    }

    /**
     * Runs a forward pass of the block.
     *
     * @throws IllegalStateException if the model is closed
     */
    public <T> T run(Supplier<T> pass) {
        Version version = current;
        while (closed || !version.enter()) {
            if (closed) {
                throw new IllegalStateException("the model is closed");
            }
            version = current;
        }
        try {
            return pass.get();
        } finally {
            version.leave();
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
        Version old = current;
        old.end = () -> Later.run(Duration.ZERO, () -> free(rewritten));
        block.exchange(rewritten);
        // A prediction that enters the old version from here on uses the new module.
        current = new Version();
        block.block().getParameters().values().forEach(Parameter::close);
        old.leave();
    }

    /** Deletes the module, once no prediction uses it. No module may be replaced meanwhile. */
    @Override
    public synchronized void close() {
        if (!closed) {
            current.end = block::close;
            closed = true;
            current.leave();
        }
    }

    private static void free(TorchScriptBlock replaced) {
        replaced.close();
        ProcessMemory.trim();
    }
}
