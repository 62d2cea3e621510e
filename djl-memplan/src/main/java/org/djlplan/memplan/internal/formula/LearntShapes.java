package org.djlplan.memplan.internal.formula;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The recordings of one model's predictions, from which it predicts the allocations of other
 * shapes. All inputs have the same types and ranks. Immutable.
 */
public final class LearntShapes {

    /** The empty value, for a model without recordings. */
    public static final LearntShapes NONE = new LearntShapes(ImmutableList.of());

    /** A model with more structures branches on its data. */
    public static final int MOST_STRUCTURES = 8;

    /** Number of recordings that are kept for a structure. */
    public static final int MOST_RECORDINGS = 16;

    private final ImmutableList<LearntStructure> structures;

    /**
     * @param structures all known structures
     */
    public LearntShapes(List<LearntStructure> structures) {
        this.structures = ImmutableList.copyOf(structures);
    }

    /** Returns all known structures. */
    public ImmutableList<LearntStructure> structures() {
        return structures;
    }

    /** Returns the number of recordings. */
    public int recordings() {
        return structures.stream().mapToInt(structure -> structure.shapes().size()).sum();
    }

    /**
     * Returns this with one more recording. An earlier recording of the same shape with another
     * structure is removed. Recordings of empty inputs are ignored.
     *
     * @param shape dimensions of all inputs
     */
    public LearntShapes with(ImmutableLongArray shape, AllocationTrace trace) {
        if (shape.contains(0)) {
            return this;
        }
        Structure structure = Structure.of(trace);
        List<Allocation> allocations = trace.allocations();
        long[] sizes = allocations.stream().mapToLong(Allocation::bytes).toArray();
        Set<Integer> left = left(allocations);
        List<LearntStructure> all = new ArrayList<>();
        boolean found = false;
        for (LearntStructure each : structures) {
            if (each.structure().equals(structure)) {
                found = true;
                all.add(each.with(shape, sizes, left, MOST_RECORDINGS));
            } else {
                each.without(shape).ifPresent(all::add);
            }
        }
        if (!found && all.size() < MOST_STRUCTURES) {
            all.add(LearntStructure.of(structure, left, shape, sizes));
        }
        return new LearntShapes(all);
    }

    private static Set<Integer> left(List<Allocation> allocations) {
        ImmutableSet.Builder<Integer> left = ImmutableSet.builder();
        for (int i = 0; i < allocations.size(); i++) {
            if (allocations.get(i).freedAt().isEmpty()) {
                left.add(i);
            }
        }
        return left.build();
    }

    /**
     * Returns the predicted allocations for a shape; empty if they are not certain.
     *
     * @param shape dimensions of all inputs
     */
    public Optional<Guess> guess(ImmutableLongArray shape) {
        return shape.contains(0)
                ? Optional.empty()
                : nearest(shape).flatMap(structure -> structure.guess(shape));
    }

    /**
     * Returns whether recording an unknown shape would help to predict other shapes.
     *
     * @param shape dimensions of all inputs
     */
    public boolean wants(ImmutableLongArray shape) {
        return !shape.contains(0)
                && nearest(shape)
                        .map(near -> !near.isHopeless() && near.shapes().size() < MOST_RECORDINGS)
                        .orElse(structures.size() < MOST_STRUCTURES);
    }

    /**
     * Returns the structure of the nearest recorded shape among those that are 1 in the same
     * dimensions, because operators take other paths if a dimension is 1.
     */
    private Optional<LearntStructure> nearest(ImmutableLongArray shape) {
        Optional<LearntStructure> nearest = Optional.empty();
        double least = Double.POSITIVE_INFINITY;
        for (LearntStructure structure : structures) {
            for (ImmutableLongArray other : structure.shapes()) {
                double distance = distance(shape, other);
                if (distance < least) {
                    least = distance;
                    nearest = Optional.of(structure);
                }
            }
        }
        return nearest;
    }

    /** Returns infinity if different dimensions are 1. */
    private static double distance(ImmutableLongArray shape, ImmutableLongArray other) {
        if (shape.length() != other.length()) {
            return Double.POSITIVE_INFINITY;
        }
        double distance = 0;
        for (int i = 0; i < shape.length(); i++) {
            if ((shape.get(i) == 1) != (other.get(i) == 1)) {
                return Double.POSITIVE_INFINITY;
            }
            distance += Math.abs(Math.log((double) shape.get(i) / other.get(i)));
        }
        return distance;
    }
}
