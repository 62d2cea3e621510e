package org.djlplan.memplan.internal.formula;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/** A structure with the sizes of its recordings. Immutable. */
public final class LearntStructure {

    private final Structure structure;
    private final ImmutableSet<Integer> left;
    private final ImmutableList<ImmutableLongArray> shapes;
    private final ImmutableList<ImmutableLongArray> rows;
    private final ImmutableIntArray rowOf;
    private final Fit fit;

    /** The allocations of each row. */
    private final List<ImmutableIntArray> numbers;

    private final boolean[] isLeft;

    /**
     * @param left numbers of the allocations that outlive predictions
     * @param shapes recorded shapes, at least one: dimensions of all inputs
     * @param rows distinct lists of sizes in bytes, one size for each shape
     * @param rowOf index of the row of each allocation
     * @throws IllegalArgumentException if these contradict each other
     */
    public LearntStructure(
            Structure structure,
            Set<Integer> left,
            List<ImmutableLongArray> shapes,
            List<ImmutableLongArray> rows,
            ImmutableIntArray rowOf) {
        this.structure = structure;
        this.left = ImmutableSet.copyOf(left);
        this.shapes = ImmutableList.copyOf(shapes);
        this.rows = ImmutableList.copyOf(rows);
        this.rowOf = rowOf;
        checkArgument(!shapes.isEmpty(), "a structure without a shape");
        checkArgument(
                rowOf.length() == structure.size()
                        && rowOf.stream().allMatch(row -> row >= 0 && row < rows.size()),
                "%s sizes of %s allocations",
                rowOf.length(),
                structure.size());
        checkArgument(
                left.stream().allMatch(number -> number >= 0 && number < structure.size()),
                "allocations %s of %s",
                left,
                structure.size());
        for (ImmutableLongArray shape : shapes) {
            checkArgument(
                    shape.length() == shapes.get(0).length() && notNegative(shape),
                    "dimensions %s",
                    shape);
        }
        for (ImmutableLongArray row : rows) {
            checkArgument(row.length() == shapes.size() && notNegative(row), "sizes %s", row);
        }
        fit = new Fit(shapes, rows);
        numbers = numbers(rows.size(), rowOf);
        isLeft = new boolean[structure.size()];
        left.forEach(number -> isLeft[number] = true);
    }

    private static List<ImmutableIntArray> numbers(int rows, ImmutableIntArray rowOf) {
        List<ImmutableIntArray.Builder> numbers = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            numbers.add(ImmutableIntArray.builder());
        }
        for (int i = 0; i < rowOf.length(); i++) {
            numbers.get(rowOf.get(i)).add(i);
        }
        return numbers.stream().map(ImmutableIntArray.Builder::build).toList();
    }

    private static boolean notNegative(ImmutableLongArray values) {
        return values.stream().allMatch(value -> value >= 0);
    }

    /**
     * Returns a structure with recordings.
     *
     * @param sizes for each recording, the size of each allocation
     */
    private static LearntStructure of(
            Structure structure,
            Set<Integer> left,
            List<ImmutableLongArray> shapes,
            List<long[]> sizes) {
        Map<ImmutableLongArray, Integer> rows = new LinkedHashMap<>();
        ImmutableIntArray.Builder rowOf = ImmutableIntArray.builder(structure.size());
        for (int i = 0; i < structure.size(); i++) {
            int allocation = i;
            ImmutableLongArray row =
                    ImmutableLongArray.copyOf(sizes.stream().mapToLong(all -> all[allocation]));
            Integer known = rows.putIfAbsent(row, rows.size());
            rowOf.add(known == null ? rows.size() - 1 : known);
        }
        return new LearntStructure(
                structure, left, shapes, ImmutableList.copyOf(rows.keySet()), rowOf.build());
    }

    static LearntStructure of(
            Structure structure, Set<Integer> left, ImmutableLongArray shape, long[] sizes) {
        return of(structure, left, ImmutableList.of(shape), ImmutableList.of(sizes));
    }

    /**
     * Returns this with one more recording; if there are too many, the oldest is removed.
     *
     * @param sizes of each allocation
     */
    LearntStructure with(ImmutableLongArray shape, long[] sizes, Set<Integer> alsoLeft, int most) {
        Set<Integer> all = ImmutableSet.<Integer>builder().addAll(left).addAll(alsoLeft).build();
        List<ImmutableLongArray> allShapes = new ArrayList<>(shapes);
        List<long[]> allSizes = new ArrayList<>();
        boolean isKnown = false;
        for (int i = 0; i < shapes.size(); i++) {
            allSizes.add(sizesOf(i));
            isKnown |= shapes.get(i).equals(shape) && Arrays.equals(allSizes.get(i), sizes);
        }
        if (!isKnown) {
            allShapes.add(shape);
            allSizes.add(sizes);
        }
        int from = Math.max(0, allShapes.size() - most);
        return of(
                structure,
                all,
                allShapes.subList(from, allShapes.size()),
                allSizes.subList(from, allSizes.size()));
    }

    /** Returns this without the recording of a shape; empty if there is no other recording. */
    Optional<LearntStructure> without(ImmutableLongArray shape) {
        List<ImmutableLongArray> otherShapes = new ArrayList<>();
        List<long[]> otherSizes = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            if (!shapes.get(i).equals(shape)) {
                otherShapes.add(shapes.get(i));
                otherSizes.add(sizesOf(i));
            }
        }
        if (otherShapes.size() == shapes.size()) {
            return Optional.of(this);
        }
        return otherShapes.isEmpty()
                ? Optional.empty()
                : Optional.of(of(structure, left, otherShapes, otherSizes));
    }

    private long[] sizesOf(int recording) {
        return rowOf.stream().mapToLong(row -> rows.get(row).get(recording)).toArray();
    }

    /** Returns the order of allocations and frees. */
    public Structure structure() {
        return structure;
    }

    /** Returns the numbers of the allocations that outlive predictions. */
    public ImmutableSet<Integer> left() {
        return left;
    }

    /** Returns the recorded shapes: dimensions of all inputs. */
    public ImmutableList<ImmutableLongArray> shapes() {
        return shapes;
    }

    /** Returns lists of sizes in bytes, one size for each shape. */
    public ImmutableList<ImmutableLongArray> rows() {
        return rows;
    }

    /** Returns the index of the row of each allocation. */
    public ImmutableIntArray rowOf() {
        return rowOf;
    }

    boolean isHopeless() {
        return fit.isHopeless();
    }

    /** Returns the allocations of a prediction with a shape, if all sizes are certain. */
    Optional<Guess> guess(ImmutableLongArray shape) {
        return fit.at(shape).flatMap(this::guess);
    }

    private Optional<Guess> guess(long[] sizeOfRow) {
        long sum = 0;
        try {
            for (int row = 0; row < sizeOfRow.length; row++) {
                sum =
                        Math.addExact(
                                sum, Math.multiplyExact(sizeOfRow[row], numbers.get(row).length()));
            }
        } catch (ArithmeticException e) {
            return Optional.empty();
        }
        return Optional.of(new Guess(this, sizeOfRow, sum));
    }

    boolean isLeft(int number) {
        return isLeft[number];
    }

    /** Returns all allocations, largest first, ties in their order. */
    int[] bySize(long[] sizeOfRow) {
        Integer[] order = new Integer[sizeOfRow.length];
        Arrays.setAll(order, row -> row);
        Arrays.sort(order, Comparator.comparingLong(row -> -sizeOfRow[row]));
        int[] all = new int[structure.size()];
        int count = 0;
        for (int row : order) {
            ImmutableIntArray of = numbers.get(row);
            for (int i = 0; i < of.length(); i++) {
                all[count++] = of.get(i);
            }
        }
        return all;
    }
}
