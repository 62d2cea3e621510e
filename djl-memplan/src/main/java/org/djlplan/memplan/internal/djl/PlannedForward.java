package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.runtime.torch.TorchPrediction;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A forward pass in planned memory. The first passes of an imperative block record the last use of
 * each array, unless a recording of other shapes can be used. The next pass records the
 * allocations; for other blocks this is the first pass. Later passes allocate at planned places.
 *
 * <p>Gradients are off during the pass. DJL's engine switches them off only on the thread that
 * initializes it; on other threads, recorded gradients would keep each intermediate alive until the
 * call ends. While an application collects gradients, passes that record them run as stock, because
 * they may be part of its training.
 */
final class PlannedForward implements InferencePass {

    private static final Logger logger = LoggerFactory.getLogger(PlannedForward.class);

    private static final int MOST_TYPES = 64;

    private final InferencePass stock;
    private final Optional<LivenessExecutor> liveness;
    private final TorchMemory memory;
    private final Set<ImmutableList<ArrayType>> seen =
            Collections.newSetFromMap(RecentMap.ofMost(MOST_TYPES));

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

    /** Runs a pass without a plan; the pass of a model with a budget still takes its turn. */
    private NDList asStock(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        memory.countUnplanned();
        Supplier<NDList> pass = () -> stock.forward(parameters, inputs, params);
        return memory.streamsWeights() ? runOneOff(pass) : TorchMemory.runUnplanned(pass);
    }

    private NDList planned(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        boolean mayWait = PredictionScope.beginForward() && Gate.isRunning();
        if (liveness.isEmpty()) {
            return pass(
                    memory.begin(() -> ArrayTypes.of(inputs), mayWait),
                    parameters,
                    inputs,
                    params,
                    prediction -> {});
        }
        LivenessExecutor executor = liveness.get();
        ImmutableList<ArrayType> types = ArrayTypes.of(inputs);
        prepare(executor, types, parameters, inputs, params);
        if (!executor.settled(types)) {
            return record(executor, types, parameters, inputs, params);
        }
        boolean borrows = executor.borrows(types);
        return pass(
                memory.begin(types, mayWait),
                parameters,
                inputs,
                params,
                prediction -> {
                    if (borrows) {
                        keepLearnt(executor, types, prediction);
                    }
                });
    }

    private NDList pass(
            TorchPrediction prediction,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params,
            Consumer<TorchPrediction> learns) {
        try {
            NDList outputs = inner(parameters, inputs, params);
            prediction.pause();
            learns.accept(prediction);
            return outputs;
        } catch (RuntimeException | Error e) {
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

    private void prepare(
            LivenessExecutor executor,
            ImmutableList<ArrayType> types,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params) {
        if (seen.add(types)) {
            memory.liveness(types).ifPresent(trace -> executor.restore(types, trace));
        }
        if (executor.wantsRecording(types)) {
            runOneOff(
                    () -> {
                        executor.prepare(parameters, inputs, params.orElse(null));
                        return new NDList();
                    });
        }
    }

    private NDList runOneOff(Supplier<NDList> pass) {
        TorchPrediction allocations = memory.beginOneOff();
        try {
            return pass.get();
        } finally {
            allocations.pause();
            allocations.finish();
        }
    }

    /**
     * Stores the recording of a pass that followed a borrowed recording to the end, because later
     * passes allocate the same.
     */
    private void keepLearnt(
            LivenessExecutor executor, ImmutableList<ArrayType> types, TorchPrediction prediction) {
        Optional<LivenessTrace> trace = executor.trace(types);
        if (trace.isPresent()) {
            memory.keepLiveness(types, trace.get());
        } else {
            prediction.fail();
        }
    }

    private NDList record(
            LivenessExecutor executor,
            ImmutableList<ArrayType> types,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params) {
        memory.countUnplanned();
        Supplier<NDList> pass = () -> executor.forward(parameters, inputs, params.orElse(null));
        NDList outputs =
                executor.wantsRecording(types) || memory.streamsWeights()
                        ? runOneOff(pass)
                        : TorchMemory.runUnplanned(pass);
        executor.trace(types).ifPresent(trace -> memory.keepLiveness(types, trace));
        return outputs;
    }
}
