package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.config.Liveness;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.source.block.LivenessTrace;

/** Stub. */
public final class LivenessExecutor {
    private final Block block;

    public LivenessExecutor(Block block, Liveness mode) {
        this.block = block;
    }

    public NDList forward(ParameterStore s, NDList in, PairList<String, Object> p) {
        return block.forward(s, in, false, p);
    }

    public boolean settled(List<ArrayType> t) {
        return true;
    }

    public Optional<LivenessTrace> trace(List<ArrayType> t) {
        return Optional.empty();
    }

    public void restore(List<ArrayType> t, LivenessTrace tr) {}
}
