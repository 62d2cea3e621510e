package org.djlplan.memplan.internal.formula;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * All formulas that fit the recorded sizes. The size for another shape is known only if all fitting
 * formulas agree on it.
 */
final class Fit {

    private final Variables variables;

    /** The formulas of each row. */
    private final List<ImmutableList<SizeFormula>> formulas;

    /** Whether a formula has the monomial. */
    private final boolean[] used;

    /**
     * @param shapes recorded shapes, at least one
     * @param rows lists of sizes in bytes that differ between shapes, one size for each shape
     */
    Fit(List<ImmutableLongArray> shapes, List<ImmutableLongArray> rows) {
        variables = new Variables(shapes);
        List<long[]> products = new ArrayList<>();
        for (int monomial = 0; monomial < variables.monomials(); monomial++) {
            products.add(products(monomial, shapes));
        }
        formulas = rows.stream().map(row -> fitting(row, products)).toList();
        used = new boolean[variables.monomials()];
        for (List<SizeFormula> fitting : formulas) {
            fitting.forEach(formula -> used[formula.monomial()] = true);
        }
    }

    /**
     * Returns the values of a monomial; empty if they do not fit into longs, because no size is
     * that large.
     */
    private long[] products(int monomial, List<ImmutableLongArray> shapes) {
        List<Optional<Long>> values =
                shapes.stream().map(shape -> variables.product(monomial, shape)).toList();
        return values.stream().allMatch(Optional::isPresent)
                ? values.stream().mapToLong(Optional::get).toArray()
                : new long[0];
    }

    private static ImmutableList<SizeFormula> fitting(
            ImmutableLongArray sizes, List<long[]> products) {
        ImmutableList.Builder<SizeFormula> found = ImmutableList.builder();
        for (int monomial = 0; monomial < products.size(); monomial++) {
            long[] values = products.get(monomial);
            if (values.length > 0 && values[0] > 0) {
                int number = monomial;
                proportional(sizes, values, number).ifPresent(found::add);
                affine(sizes, values, number).ifPresent(found::add);
            }
        }
        return found.build();
    }

    private static Optional<SizeFormula> proportional(
            ImmutableLongArray sizes, long[] products, int monomial) {
        BigInteger size = BigInteger.valueOf(sizes.get(0));
        BigInteger product = BigInteger.valueOf(products[0]);
        for (int i = 1; i < products.length; i++) {
            if (!size.multiply(BigInteger.valueOf(products[i]))
                    .equals(product.multiply(BigInteger.valueOf(sizes.get(i))))) {
                return Optional.empty();
            }
        }
        return Optional.of(SizeFormula.proportional(sizes.get(0), products[0], monomial));
    }

    /** If the product is the same in all shapes, the constant formula covers this case. */
    private static Optional<SizeFormula> affine(
            ImmutableLongArray sizes, long[] products, int monomial) {
        int other = 1;
        while (other < products.length && products[other] == products[0]) {
            other++;
        }
        if (other >= products.length) {
            return Optional.empty();
        }
        long rise = sizes.get(other) - sizes.get(0);
        long run = products[other] - products[0];
        if (rise == 0 || rise % run != 0 || rise / run < 0) {
            return Optional.empty();
        }
        long factor = rise / run;
        BigInteger added =
                BigInteger.valueOf(sizes.get(0))
                        .subtract(BigInteger.valueOf(factor).multiply(value(products[0])));
        for (int i = 0; i < products.length; i++) {
            if (!BigInteger.valueOf(factor)
                    .multiply(value(products[i]))
                    .add(added)
                    .equals(value(sizes.get(i)))) {
                return Optional.empty();
            }
        }
        return added.signum() > 0
                ? Optional.of(new SizeFormula(added.longValueExact(), factor, 1, monomial))
                : Optional.empty();
    }

    private static BigInteger value(long number) {
        return BigInteger.valueOf(number);
    }

    /** Returns whether some size has no fitting formula, so that more recordings do not help. */
    boolean isHopeless() {
        return formulas.stream().anyMatch(List::isEmpty);
    }

    /** Returns the size of each row; empty if one of them is not certain. */
    Optional<long[]> at(ImmutableLongArray shape) {
        if (!variables.admit(shape)) {
            return Optional.empty();
        }
        Long[] products = new Long[variables.monomials()];
        for (int monomial = 0; monomial < used.length; monomial++) {
            if (used[monomial]) {
                products[monomial] = variables.product(monomial, shape).orElse(null);
            }
        }
        long[] sizes = new long[formulas.size()];
        for (int row = 0; row < sizes.length; row++) {
            OptionalLong size = agreed(formulas.get(row), products);
            if (size.isEmpty()) {
                return Optional.empty();
            }
            sizes[row] = size.getAsLong();
        }
        return Optional.of(sizes);
    }

    private static OptionalLong agreed(List<SizeFormula> fitting, Long[] products) {
        OptionalLong agreed = OptionalLong.empty();
        for (SizeFormula formula : fitting) {
            Long product = products[formula.monomial()];
            OptionalLong size = product == null ? OptionalLong.empty() : formula.at(product);
            if (size.isEmpty() || (agreed.isPresent() && !agreed.equals(size))) {
                return OptionalLong.empty();
            }
            agreed = size;
        }
        return agreed;
    }
}
