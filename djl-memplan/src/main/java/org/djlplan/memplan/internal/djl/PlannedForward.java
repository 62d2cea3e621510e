package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchPrediction;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A forward pass whose allocations get places in an arena. The first pass of an imperative block
 * records the last use of each array, unless a recording of other shapes can be used.
 *
 * <p>Gradients are off during the pass. DJL's engine switches them off only on the thread that
 * initializes it; on other threads, recorded gradients would keep each intermediate alive until the
 * call ends. While an application collects gradients, passes that record them run as stock, because
 * they may be part of its training.
 */
final class PlannedForward implements InferencePass {

    private static final Logger logger = LoggerFactory.getLogger(PlannedForward.class);

    private final InferencePass stock;
    private final Optional<LivenessExecutor> liveness;
    private final TorchMemory memory;

    /**
     * @param stock the block's own forward pass
     * @param liveness closes the arrays of an imperative block early; empty for other blocks
     */
    PlannedForward(InferencePass stock, Optional<LivenessExecutor> liveness, TorchMemory memory) {
        this.stock = stock;
        this.liveness = liveness;
        this.memory = memory;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (!areTensorsInMemory(inputs)) {
            return asStock(parameters, inputs, params);
        }
        TorchSettings settings = TorchSettings.current();
        if (settings.recordsGradients() && GradientCollectors.isOpen()) {
            return asStock(parameters, inputs, params);
        }
        boolean changed =
                settings.recordsGradients()
                        // A virtual thread may continue on another thread before the settings are
                        // reset.
                        && !VirtualThreads.isCurrent()
                        && inputs.stream().noneMatch(NDArray::hasGradient);
        if (!changed) {
            return planned(parameters, inputs, params);
        }
        settings.withoutGradients().install();
        try {
            return planned(parameters, inputs, params);
        } finally {
            settings.install();
        }
    }

    /**
     * Returns whether all inputs are arrays of numbers, and the first is not in a GPU's memory.
     * Otherwise, or if an input is closed, the pass runs as stock: the engine accepts the inputs,
     * or reports what is wrong. Does not read the shapes, because a model whose shapes rarely
     * repeat does not need them.
     */
    private static boolean areTensorsInMemory(NDList inputs) {
        try {
            for (NDArray input : inputs) {
                // The engine crashes if it is asked for the device of a string.
                if (input.getDataType() == DataType.STRING) {
                    return false;
                }
            }
            return !inputs.isEmpty() && !inputs.head().getDevice().isGpu();
        } catch (RuntimeException e) {
            logger.debug("An input cannot be read", e);
            return false;
        }
    }

    /** Runs a pass outside of arenas; the pass of a model with a budget still takes its turn. */
    private NDList asStock(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        Supplier<NDList> pass = () -> stock.forward(parameters, inputs, params);
        if (memory.streamsWeights()) {
            memory.countOneOff();
            return runOneOff(pass);
        }
        memory.countUnplanned();
        return TorchMemory.runUnplanned(pass);
    }

    private NDList planned(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        PredictionScope.finishPrevious();
        if (liveness.isEmpty()) {
            return pass(
                    memory.begin(ArraySizes.of(inputs), () -> ArrayTypes.of(inputs)),
                    parameters,
                    inputs,
                    params);
        }
        LivenessExecutor executor = liveness.get();
        ImmutableList<ArrayType> types = ArrayTypes.of(inputs);
        if (executor.wantsRecording(types)) {
            runOneOff(
                    () -> {
                        executor.prepare(parameters, inputs, params.orElse(null));
                        return new NDList();
                    });
        }
        if (executor.wantsRecording(types)) {
            memory.countOneOff();
            return runOneOff(() -> executor.forward(parameters, inputs, params.orElse(null)));
        }
        return pass(memory.begin(ArraySizes.of(inputs), () -> types), parameters, inputs, params);
    }

    private NDList pass(
            TorchPrediction prediction,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params) {
        try {
            return inner(parameters, inputs, params);
        } catch (RuntimeException e) {
            throw prediction.fail(e);
        } catch (Error e) {
            prediction.fail();
            throw e;
        } finally {
            prediction.pause();
            PredictionScope.endForward(prediction);
        }
    }

    private NDList inner(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        return liveness.isPresent()
                ? liveness.get().forward(parameters, inputs, params.orElse(null))
                : stock.forward(parameters, inputs, params);
    }

    private NDList runOneOff(Supplier<NDList> pass) {
        TorchPrediction allocations = memory.beginOneOff();
        try {
            return pass.get();
        } catch (RuntimeException e) {
            throw allocations.fail(e);
        } finally {
            allocations.pause();
            allocations.finish();
        }
    }
}
