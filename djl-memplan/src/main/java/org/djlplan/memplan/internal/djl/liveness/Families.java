package org.djlplan.memplan.internal.djl.liveness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.runtime.RecentMap;

/**
 * Recordings that are used for inputs of other shapes. A block's operations depend on the element
 * type and the number of dimensions of an array. They rarely depend on its sizes, and if so, mostly
 * on which sizes are 1. So inputs with sizes of 1 in the same positions share recordings.
 *
 * <p>If there is no recording, a block that may be run any number of times is run on
 * <em>trial</em>, with zeros of smaller shapes, so that the trial takes little memory. So even the
 * first prediction has a recording. Thread-safe; callers wait for a running trial.
 */
final class Families {

    private static final int MOST_FAMILIES = 64;

    /** After this many recordings, passes that can follow none run as in DJL. */
    private static final int MOST_RECORDINGS = 32;

    /** Divisors of the lengths of inputs on trial, tried one after another. */
    private static final int[] DIVISORS = {4, 2, 1};

    /** Images have their sides behind the batch and the channels, other arrays their length. */
    private static final int IMAGE_RANK = 4;

    /** Empty if no trial succeeded. */
    private final Map<String, Optional<ReplayPlan>> recordings = RecentMap.ofMost(MOST_FAMILIES);

    private int recorded;

    /** Adds the recording of a pass with inputs of these types. */
    synchronized void add(List<ArrayType> types, ReplayPlan plan) {
        recordings.put(family(types), Optional.of(plan));
        recorded++;
    }

    /**
     * Returns whether a pass with inputs of new types may be recorded. If recordings fit no other
     * shapes, a block that gets ever new shapes would be recorded again and again.
     */
    synchronized boolean mayRecord() {
        return recorded < MOST_RECORDINGS;
    }

    /**
     * Returns a recording that a pass with inputs of these types can follow.
     *
     * @param trial records a pass with inputs of zeros of the given types; empty if that is not
     *     allowed, or the block does not accept such inputs
     */
    synchronized Optional<ReplayPlan> find(
            List<ArrayType> types, Function<List<ArrayType>, Optional<ReplayPlan>> trial) {
        return recordings.computeIfAbsent(family(types), family -> tryOut(types, trial));
    }

    private static Optional<ReplayPlan> tryOut(
            List<ArrayType> types, Function<List<ArrayType>, Optional<ReplayPlan>> trial) {
        return smaller(types).stream().map(trial).flatMap(Optional::stream).findFirst();
    }

    /** Notes that a pass with inputs of these types could not follow a recording of others. */
    synchronized void misfit(List<ArrayType> types) {
        recordings.put(family(types), Optional.empty());
    }

    /** Returns the element types and ranks, and the positions of dimensions of 1. */
    private static String family(List<ArrayType> types) {
        StringBuilder family = new StringBuilder();
        for (ArrayType type : types) {
            family.append(type.dataType());
            type.shape().forEach(size -> family.append(size == 1 ? '1' : 'n'));
            family.append(' ');
        }
        return family.toString();
    }

    /**
     * Returns types of the same family to try, with at most two thirds of the size, the smallest
     * first.
     */
    private static List<List<ArrayType>> smaller(List<ArrayType> types) {
        List<List<ArrayType>> smaller = new ArrayList<>();
        for (int divisor : DIVISORS) {
            List<ArrayType> candidate = types.stream().map(type -> smaller(type, divisor)).toList();
            if (family(candidate).equals(family(types))
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
                shape.set(i, Math.min(2, shape.get(i)));
            } else if (shape.size() < IMAGE_RANK ? i == 1 : i > 1) {
                shape.set(i, Math.max(1, shape.get(i) / divisor));
            }
        }
        return new ArrayType(type.dataType(), shape);
    }

    private static long elements(List<ArrayType> types) {
        return types.stream()
                .mapToLong(type -> type.shape().stream().reduce(1L, Math::multiplyExact))
                .sum();
    }
}
