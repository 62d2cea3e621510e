package org.djlplan.memplan.internal.rewrite;

import ai.djl.ndarray.NDList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Copies inputs of the first predictions of a model, in memory only. Thread-safe. */
public final class Sampling {

    /** Copies take at most this much memory; larger inputs are only counted. */
    static final long MOST_BYTES = 32 << 20;

    /** Shapes beyond these are counted as one. */
    private static final int MOST_SHAPES = 64;

    /** Whether inputs are copied for judging a lower precision. */
    private final boolean copiesAll;

    private final Map<ImmutableList<ArrayType>, Long> counts = new HashMap<>();
    private final Map<ImmutableList<ArrayType>, SampleInputs> copies = new HashMap<>();
    private final List<SampleInputs> all = new ArrayList<>();
    private long bytes;
    private int predictions;

    /**
     * @param copiesAll whether the inputs of all predictions are copied, and not only the first
     *     ones of each shape
     */
    public Sampling(boolean copiesAll) {
        this.copiesAll = copiesAll;
    }

    /** Returns whether the inputs of all predictions are copied. */
    public boolean copiesAll() {
        return copiesAll;
    }

    /**
     * Adds a prediction.
     *
     * @return the number of predictions so far
     */
    public synchronized int add(ImmutableList<ArrayType> types, NDList inputs) {
        if (counts.size() < MOST_SHAPES || counts.containsKey(types)) {
            counts.merge(types, 1L, Long::sum);
        }
        if ((copiesAll || !copies.containsKey(types)) && bytes < MOST_BYTES) {
            SampleInputs copy = SampleInputs.copyOf(types, inputs);
            if (bytes + copy.bytes() <= MOST_BYTES) {
                bytes += copy.bytes();
                copies.putIfAbsent(types, copy);
                all.add(copy);
            }
        }
        return ++predictions;
    }

    /** Returns the predictions so far whose inputs were copied, and forgets all. */
    public synchronized SampledRequests take() {
        ImmutableList.Builder<Frequent> measured = ImmutableList.builder();
        copies.forEach((types, copy) -> measured.add(new Frequent(copy, counts.get(types))));
        SampledRequests taken =
                new SampledRequests(measured.build(), copiesAll ? all : ImmutableList.of());
        counts.clear();
        copies.clear();
        all.clear();
        return taken;
    }
}
