package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.ImmutableList;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.djl.liveness.ArrayTypes;
import org.djlplan.memplan.djl.liveness.LivenessExecutor;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.torch.TorchMemory;
import org.djlplan.memplan.runtime.torch.TorchPrediction;
import org.djlplan.memplan.runtime.torch.TorchSettings;

/**
 * A forward pass in planned memory. For an imperative block it is first recorded when each array is
 * used last; once that is settled, and for other blocks at once, the allocations are recorded; from
 * then on they are placed.
 *
 * <p>No gradients are recorded, as DJL's engine has it on the thread that initialises it: on others
 * each intermediate would stay alive until the call ends.
 */
final class PlannedForward implements StockForward {

    private static final int MOST_TYPES = 64;

    private final StockForward stock;
    private final Optional<LivenessExecutor> liveness;
    private final TorchMemory memory;
    private final Set<ImmutableList<ArrayType>> seen =
            Collections.newSetFromMap(
                    CacheBuilder.newBuilder()
                            .maximumSize(MOST_TYPES)
                            .<ImmutableList<ArrayType>, Boolean>build()
                            .asMap());

    /**
     * @param stock the block's own forward pass
     * @param liveness closes the arrays of an imperative block early; empty for other blocks
     */
    PlannedForward(StockForward stock, Optional<LivenessExecutor> liveness, TorchMemory memory) {
        this.stock = stock;
        this.liveness = liveness;
        this.memory = memory;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (inputs.isEmpty() || inputs.head().getDevice().isGpu()) {
            return stock.forward(parameters, inputs, params);
        }
        ImmutableList<ArrayType> types = ArrayTypes.of(inputs);
        TorchSettings settings = TorchSettings.current();
        boolean changed =
                settings.recordsGradients() && inputs.stream().noneMatch(NDArray::hasGradient);
        if (!changed) {
            return planned(types, parameters, inputs, params);
        }
        settings.withoutGradients().install();
        try {
            return planned(types, parameters, inputs, params);
        } finally {
            settings.install();
        }
    }

    private NDList planned(
            ImmutableList<ArrayType> types,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params) {
        boolean mayWait = PredictionScope.beginForward() && Workers.isRunning();
        if (liveness.isPresent() && !isSettled(liveness.get(), types)) {
            return record(liveness.get(), types, parameters, inputs, params);
        }
        TorchPrediction prediction = memory.begin(types, mayWait);
        try {
            return inner(parameters, inputs, params);
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

    private boolean isSettled(LivenessExecutor executor, ImmutableList<ArrayType> types) {
        if (seen.add(types)) {
            memory.liveness(types).ifPresent(trace -> executor.restore(types, trace));
        }
        return executor.settled(types);
    }

    private NDList record(
            LivenessExecutor executor,
            ImmutableList<ArrayType> types,
            ParameterStore parameters,
            NDList inputs,
            Optional<PairList<String, Object>> params) {
        memory.countUnplanned();
        NDList outputs = executor.forward(parameters, inputs, params.orElse(null));
        executor.trace(types).ifPresent(trace -> memory.keepLiveness(types, trace));
        return outputs;
    }
}
