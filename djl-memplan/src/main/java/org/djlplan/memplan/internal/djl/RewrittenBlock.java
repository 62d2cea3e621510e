package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import java.util.Optional;
import org.djlplan.memplan.internal.rewrite.ModuleInService;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A TorchScript block whose module can be rewritten once, and closed, while it serves. */
final class RewrittenBlock implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(RewrittenBlock.class);

    private static final String ENGINES = "ai.djl.pytorch.engine.PtSymbolBlock";

    /** libtorch compiles a graph in its second prediction. */
    private static final int WARM_UPS = 3;

    private final NDManager manager;
    private final TorchScriptBlock loaded;
    private final ModuleInService module;
    private final ModelInUse use;

    /** Settings of the thread that loaded the model. */
    private final TorchSettings settings = TorchSettings.current();

    /**
     * @throws ReflectiveOperationException if the engine's block is not as expected
     */
    private RewrittenBlock(Model model, Block block, ModelInUse use)
            throws ReflectiveOperationException {
        manager = model.getNDManager();
        loaded = TorchScriptBlock.of(block);
        module = new ModuleInService(loaded);
        this.use = use;
    }

    /**
     * Returns a block that is closed in place of the engine's; empty if that is not a TorchScript
     * block, or has other fields than expected.
     */
    static Optional<RewrittenBlock> of(Model model, Block block, ModelInUse use) {
        if (!block.getClass().getName().equals(ENGINES)) {
            return Optional.empty();
        }
        try {
            RewrittenBlock rewritten = new RewrittenBlock(model, block, use);
            rewritten.closeWith(rewritten);
            return Optional.of(rewritten);
        } catch (ReflectiveOperationException e) {
            logger.warn(
                    "{} must not be closed while it predicts, and is not rewritten, because the"
                            + " engine's block is not as expected: {}",
                    model.getName(),
                    e.toString());
            return Optional.empty();
        }
    }

    /** Lets an object be closed in place of the block when the block's manager is closed. */
    void closeWith(AutoCloseable replacement) {
        try {
            loaded.closeWith(replacement);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the engine's threads for each operator. */
    int threads() {
        return TorchSettings.threadsBySetting();
    }

    /** Returns whether parameters are trainable, whose gradients a rewritten module cannot have. */
    boolean isTrainable() {
        return loaded.block().getParameters().values().stream()
                .filter(Parameter::isInitialized)
                .map(Parameter::getArray)
                .anyMatch(NDArray::hasGradient);
    }

    /** Returns the block's pass with the current module. */
    InferencePass serving(InferencePass stock) {
        return (parameters, inputs, params) ->
                module.run(() -> stock.forward(parameters, inputs, params));
    }

    /**
     * Replaces the loaded module by a rewritten one. Not thread-safe, but predictions may run.
     *
     * @param requests warm the new module up
     * @throws Exception if the module cannot be built or run; the loaded one stays
     */
    void rewrite(Recipe recipe, SampledRequests requests) throws Exception {
        TorchSettings before = TorchSettings.current();
        settings.withoutGradients().install();
        try (ModuleRewriter rewriter = ModuleRewriter.open()) {
            module.rewrite(rewriter, recipe, fresh -> warmUp(fresh, requests));
        } finally {
            before.install();
        }
    }

    private void warmUp(TorchScriptBlock fresh, SampledRequests requests) {
        ParameterStore parameters = new ParameterStore(manager, false);
        for (int i = 0; i < WARM_UPS; i++) {
            for (Frequent each : requests.measured()) {
                try (NDManager scope = manager.newSubManager()) {
                    NDList arrays = each.inputs().create(scope);
                    NDList unused =
                            TorchMemory.runUnplanned(
                                    () -> fresh.block().forward(parameters, arrays, false));
                }
            }
        }
    }

    /** Deletes the module, once no prediction uses it. No rewriting may run. */
    @Override
    public void close() {
        use.close(loaded);
    }
}
