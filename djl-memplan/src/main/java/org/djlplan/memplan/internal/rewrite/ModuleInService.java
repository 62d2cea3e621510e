package org.djlplan.memplan.internal.rewrite;

import ai.djl.engine.EngineException;
import ai.djl.nn.Parameter;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The module of a TorchScript model in service. Another module can replace it while predictions
 * run: these keep the old one, which is deleted once none of them uses it. Thread-safe.
 */
public final class ModuleInService {

    private static final Logger logger = LoggerFactory.getLogger(ModuleInService.class);

    private final TorchScriptBlock block;
    private volatile Version current = new Version(Optional.empty());

    /** The predictions that may use one module. */
    private static final class Version {

        /** Set for a module that needs oneDNN's graph fuser. */
        private final Optional<Fuser> fuser;

        /** One more than the number of predictions, until the module was replaced. */
        private final AtomicInteger uses = new AtomicInteger(1);

        /** Runs when the module was replaced and no prediction uses it any more. */
        private volatile Runnable end = () -> {};

        Version(Optional<Fuser> fuser) {
            this.fuser = fuser;
        }

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
     * Switches oneDNN's graph fuser on for a few shapes, because it compiles for each, and keeps
     * what it compiled.
     */
    private static final class Fuser {

        private final ModuleRewriter rewriter;
        private final Set<ImmutableList<ArrayType>> shapes =
                Collections.synchronizedSet(new HashSet<>());
        private volatile boolean failed;

        Fuser(ModuleRewriter rewriter) {
            this.rewriter = rewriter;
        }

        /** A virtual thread may continue on another thread, where the fuser is off. */
        private boolean takes(ImmutableList<ArrayType> types) {
            if (failed || VirtualThreads.isCurrent()) {
                return false;
            }
            synchronized (shapes) {
                return shapes.contains(types)
                        || (shapes.size() < SampledRequests.MOST_MEASURED && shapes.add(types));
            }
        }

        private <T> T run(ImmutableList<ArrayType> types, Supplier<T> pass) {
            if (!takes(types)) {
                return pass.get();
            }
            rewriter.fuse(true);
            try {
                return pass.get();
            } catch (EngineException e) {
                // If it fails to compile, nothing has run.
                logger.debug("without the fuser from now on", e);
                failed = true;
            } finally {
                rewriter.fuse(false);
            }
            return pass.get();
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
     * @param types of its inputs
     */
    public <T> T run(Supplier<ImmutableList<ArrayType>> types, Supplier<T> pass) {
        Version version = current;
        while (!version.enter()) {
            version = current;
        }
        try {
            return version.fuser.isPresent()
                    ? version.fuser.get().run(types.get(), pass)
                    : pass.get();
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
    public void rewrite(ModuleRewriter rewriter, Recipe recipe, WarmUp warmUp) throws Exception {
        TorchScriptBlock rewritten = block.rewritten(rewriter, recipe);
        Optional<Fuser> fuser =
                recipe.fuses() ? Optional.of(new Fuser(rewriter)) : Optional.empty();
        try {
            warmUp.run(
                    rewritten,
                    (types, pass) -> fuser.isPresent() ? fuser.get().run(types, pass) : pass.get());
        } catch (Exception | Error e) {
            rewritten.close();
            throw e;
        }
        Version old = current;
        old.end = () -> Later.run(Duration.ZERO, () -> free(rewritten));
        block.exchange(rewritten);
        // A prediction that enters the old version from here on uses the new module.
        current = new Version(fuser);
        block.block().getParameters().values().forEach(Parameter::close);
        old.leave();
    }

    /** Runs predictions of a new block. */
    @FunctionalInterface
    public interface WarmUp {
        void run(TorchScriptBlock block, Runner runner) throws Exception;
    }

    /** Runs a pass as it will run in service. */
    @FunctionalInterface
    public interface Runner {
        Object run(ImmutableList<ArrayType> types, Supplier<Object> pass);
    }

    private static void free(TorchScriptBlock replaced) {
        replaced.close();
        ProcessMemory.trim();
    }
}
