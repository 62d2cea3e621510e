package org.djlplan.memplan.internal.djl.liveness;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.thirdparty.guava.cache.Cache;
import org.djlplan.thirdparty.guava.cache.CacheBuilder;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Recordings that are used for inputs of other shapes. A block's operations depend on the element
 * type and the number of dimensions of an array. They rarely depend on its sizes, and if so, mostly
 * on which sizes are 1. So inputs of the same element types and ranks form a <em>family</em>, which
 * shares recordings. Recordings whose inputs have sizes of 1 in the same positions are preferred.
 *
 * <p>If there is no recording, a block that may be run any number of times is run on
 * <em>trial</em>, with zeros of smaller shapes, so that the trial takes little memory. So even the
 * first prediction has a recording. Thread-safe; callers wait for a running trial.
 */
final class Families {

    private static final int MOST_FAMILIES = 64;

    /** After this many unusable recordings, a family provides no more. */
    private static final int MOST_MISFITS = 4;

    /** After this many further recordings, passes of new types of such a family run as in DJL. */
    private static final int MOST_UNSHARED = 16;

    /** Divisors of the sides of images on trial, tried one after another. */
    private static final ImmutableList<Integer> DIVISORS = ImmutableList.of(4, 2, 1);

    /** From this dimension on, sizes are spatial or temporal: after batch and channels. */
    private static final int FIRST_SIDE = 2;

    /** Arrays with fewer dimensions have no sides; their sizes are properties of the network. */
    private static final int FEWEST_DIMENSIONS = 4;

    private static final int TRIAL_BATCH = 2;

    private final Cache<ImmutableList<String>, Family> families =
            CacheBuilder.newBuilder().maximumSize(MOST_FAMILIES).build();

    private Family family(List<ArrayType> types) {
        ImmutableList<String> kind =
                types.stream()
                        .map(type -> type.dataType() + type.shape().size())
                        .collect(ImmutableList.toImmutableList());
        try {
            return families.get(kind, Family::new);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Adds the recording of a pass with inputs of these types. */
    void add(List<ArrayType> types, LivenessTrace trace) {
        family(types).add(types, trace);
    }

    /**
     * Returns a recording that a pass with inputs of these types can follow.
     *
     * @param trial records a pass with inputs of zeros of the given types; empty if that is not
     *     allowed, or the block does not accept such inputs
     */
    Optional<LivenessTrace> findRecording(
            List<ArrayType> types, Function<List<ArrayType>, Optional<LivenessTrace>> trial) {
        return family(types).findRecording(types, trial);
    }

    /**
     * Returns whether a pass with inputs of these types may be recorded. If recordings fit no other
     * shapes, a block that gets ever new shapes would be recorded again and again.
     */
    boolean mayRecord(List<ArrayType> types) {
        return family(types).mayRecord();
    }

    /** Records that a pass with inputs of these types could not follow a recording. */
    void misfit(List<ArrayType> types, LivenessTrace recording) {
        family(types).misfit(recording);
    }

    /** Inputs of the same element types and ranks. */
    private static final class Family {

        private final Map<String, LivenessTrace> recordings = new LinkedHashMap<>();
        private final Map<String, Integer> trials = new HashMap<>();
        private int misfits;
        private int unshared;

        synchronized void add(List<ArrayType> types, LivenessTrace trace) {
            recordings.put(ones(types), trace);
            if (misfits >= MOST_MISFITS) {
                unshared++;
            }
        }

        synchronized boolean mayRecord() {
            return unshared < MOST_UNSHARED;
        }

        synchronized Optional<LivenessTrace> findRecording(
                List<ArrayType> types, Function<List<ArrayType>, Optional<LivenessTrace>> trial) {
            if (misfits >= MOST_MISFITS) {
                return Optional.empty();
            }
            return Optional.ofNullable(recordings.get(ones(types)))
                    .or(() -> tryOut(types, trial))
                    .or(() -> recordings.values().stream().findFirst());
        }

        private Optional<LivenessTrace> tryOut(
                List<ArrayType> types, Function<List<ArrayType>, Optional<LivenessTrace>> trial) {
            List<List<ArrayType>> smaller = smaller(types);
            int next = trials.getOrDefault(ones(types), 0);
            Optional<LivenessTrace> trace = Optional.empty();
            while (trace.isEmpty() && next < smaller.size()) {
                trace = trial.apply(smaller.get(next));
                next++;
            }
            trials.put(ones(types), next);
            trace.ifPresent(found -> add(types, found));
            return trace;
        }

        synchronized void misfit(LivenessTrace recording) {
            if (recordings.values().removeIf(recording::equals)) {
                misfits++;
            }
        }
    }

    /** Returns the positions of dimensions of 1. */
    private static String ones(List<ArrayType> types) {
        StringBuilder ones = new StringBuilder();
        for (ArrayType type : types) {
            type.shape().forEach(size -> ones.append(size == 1 ? '1' : 'n'));
            ones.append(' ');
        }
        return ones.toString();
    }

    /**
     * Returns types to try, with dimensions of 1 in the same positions and at most two thirds of
     * the size, the smallest first.
     */
    private static List<List<ArrayType>> smaller(List<ArrayType> types) {
        List<List<ArrayType>> smaller = new ArrayList<>();
        for (int divisor : DIVISORS) {
            List<ArrayType> candidate =
                    types.stream()
                            .map(type -> smaller(type, divisor))
                            .collect(ImmutableList.toImmutableList());
            if (ones(candidate).equals(ones(types))
                    && 3 * elements(candidate) <= 2 * elements(types)
                    && !smaller.contains(candidate)) {
                smaller.add(candidate);
            }
        }
        return smaller;
    }

    private static ArrayType smaller(ArrayType type, int divisor) {
        List<Long> shape = new ArrayList<>(type.shape());
        for (int i = 0; i < shape.size(); i++) {
            if (i == 0) {
                shape.set(i, Math.min(TRIAL_BATCH, shape.get(i)));
            } else if (i >= FIRST_SIDE && shape.size() >= FEWEST_DIMENSIONS) {
                shape.set(i, shape.get(i) / divisor);
            }
        }
        return new ArrayType(type.dataType(), ImmutableList.copyOf(shape));
    }

    private static long elements(List<ArrayType> types) {
        return types.stream()
                .mapToLong(type -> type.shape().stream().reduce(1L, Math::multiplyExact))
                .sum();
    }
}
