package org.djlplan.memplan.internal.rewrite;

import ai.djl.ndarray.NDList;
import java.util.HashMap;
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

    private final Map<ImmutableList<ArrayType>, Long> counts = new HashMap<>();
    private final Map<ImmutableList<ArrayType>, SampleInputs> copies = new HashMap<>();
    private long bytes;
    private int predictions;

    /**
     * Adds a prediction. The first one of each shape is copied.
     *
     * @return the number of predictions so far
     */
    public synchronized int add(ImmutableList<ArrayType> types, NDList inputs) {
        if (counts.size() < MOST_SHAPES || counts.containsKey(types)) {
            counts.merge(types, 1L, Long::sum);
        }
        if (!copies.containsKey(types) && bytes < MOST_BYTES) {
            SampleInputs copy = SampleInputs.copyOf(types, inputs);
            if (bytes + copy.bytes() <= MOST_BYTES) {
                bytes += copy.bytes();
                copies.put(types, copy);
            }
        }
        return ++predictions;
    }

    /** Returns the predictions so far whose inputs were copied, and forgets all. */
    public synchronized SampledRequests take() {
        ImmutableList.Builder<Frequent> all = ImmutableList.builder();
        copies.forEach((types, copy) -> all.add(new Frequent(copy, counts.get(types))));
        SampledRequests taken = new SampledRequests(all.build(), counts.size());
        counts.clear();
        copies.clear();
        return taken;
    }
}
