package org.djlplan.memplan.formula;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.primitives.ImmutableLongArray;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;

/**
 * What was recorded of the allocations of one model's predictions, and what that tells of shapes
 * that were not. The inputs are always of the same types and ranks. Immutable.
 */
public final class LearntShapes {

    /** Of a model of which nothing was recorded. */
    public static final LearntShapes NONE = new LearntShapes(ImmutableList.of());

    /** A model that has more structures decides by its data. */
    public static final int MOST_STRUCTURES = 8;

    /** How many recordings of a structure are remembered. */
    public static final int MOST_RECORDINGS = 16;

    private final ImmutableList<LearntStructure> structures;

    /**
     * @param structures all that are known
     */
    public LearntShapes(List<LearntStructure> structures) {
        this.structures = ImmutableList.copyOf(structures);
    }

    /** Returns all structures that are known. */
    public ImmutableList<LearntStructure> structures() {
        return structures;
    }

    /** Returns how many recordings this is of. */
    public int recordings() {
        return structures.stream().mapToInt(structure -> structure.shapes().size()).sum();
    }

    /**
     * Returns this with a further recording. What was recorded earlier of the same shape with
     * another structure is forgotten. Empty inputs tell nothing.
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
     * Returns what a prediction of a shape is expected to allocate; empty if that is not known for
     * sure.
     *
     * @param shape dimensions of all inputs
     */
    public Optional<Guess> guess(ImmutableLongArray shape) {
        return shape.contains(0)
                ? Optional.empty()
                : nearest(shape).flatMap(structure -> structure.guess(shape));
    }

    /**
     * Returns whether a recording of a shape of which nothing is known would tell of others.
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
     * dimensions, as operators take other ways there.
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

    /** Infinite if not the same dimensions are 1. */
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
