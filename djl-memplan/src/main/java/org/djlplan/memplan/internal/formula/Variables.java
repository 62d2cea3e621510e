package org.djlplan.memplan.internal.formula;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The variables of formulas: the dimensions of all inputs that vary between the recorded shapes.
 * Dimensions that are equal to each other in every recorded shape count as one variable.
 */
final class Variables {

    /** With more variables, a few recordings do not determine the formulas. */
    private static final int MOST = 4;

    private static final int HIGHEST_POWER = 2;

    /** For each dimension, the first dimension that equals it in every recorded shape. */
    private final int[] equal;

    private final ImmutableLongArray sample;
    private final List<Integer> varying = new ArrayList<>();
    private final boolean[] varies;

    /** The powers of the varying dimensions, for each monomial. */
    private final ImmutableList<int[]> monomials;

    /**
     * @param shapes at least one; the dimensions of all inputs, the same number in each shape
     */
    Variables(List<ImmutableLongArray> shapes) {
        sample = shapes.get(0);
        equal = new int[sample.length()];
        varies = new boolean[sample.length()];
        for (int i = 0; i < equal.length; i++) {
            int dimension = i;
            equal[i] = i;
            varies[i] = shapes.stream().anyMatch(at -> at.get(dimension) != sample.get(dimension));
            for (int other = i - 1; other >= 0; other--) {
                int earlier = other;
                if (shapes.stream().allMatch(at -> at.get(dimension) == at.get(earlier))) {
                    equal[i] = other;
                }
            }
            if (varies[i] && equal[i] == i) {
                varying.add(i);
            }
        }
        monomials = varying.size() > MOST ? ImmutableList.of() : monomials(varying.size());
    }

    private static ImmutableList<int[]> monomials(int variables) {
        ImmutableList.Builder<int[]> all = ImmutableList.builder();
        int count = 1;
        for (int i = 0; i < variables; i++) {
            count *= HIGHEST_POWER + 1;
        }
        for (int number = 0; number < count; number++) {
            int[] powers = new int[variables];
            int rest = number;
            for (int i = 0; i < variables; i++) {
                powers[i] = rest % (HIGHEST_POWER + 1);
                rest /= HIGHEST_POWER + 1;
            }
            all.add(powers);
        }
        return all.build();
    }

    /** Returns the number of monomials; 0 if there are too many variables. */
    int monomials() {
        return monomials.size();
    }

    /** Returns whether a shape varies only in the dimensions that varied between recordings. */
    boolean admit(ImmutableLongArray shape) {
        if (shape.length() != equal.length) {
            return false;
        }
        for (int i = 0; i < equal.length; i++) {
            if (shape.get(i) != (varies[i] ? shape.get(equal[i]) : sample.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Returns the value of a monomial; empty if it does not fit into a long. */
    Optional<Long> product(int monomial, ImmutableLongArray shape) {
        int[] powers = monomials.get(monomial);
        try {
            long product = 1;
            for (int i = 0; i < powers.length; i++) {
                for (int power = 0; power < powers[i]; power++) {
                    product = Math.multiplyExact(product, shape.get(varying.get(i)));
                }
            }
            return Optional.of(product);
        } catch (ArithmeticException e) {
            return Optional.empty();
        }
    }
}
