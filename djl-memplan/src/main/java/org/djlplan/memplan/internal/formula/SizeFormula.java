package org.djlplan.memplan.internal.formula;

import java.math.BigInteger;
import java.util.OptionalLong;

/**
 * A size in bytes as a function of dimensions: {@code added + factor · m / divisor}, where m is a
 * product of powers of dimensions. All are integers; a result that is not an integer or does not
 * fit into a long is not a size.
 *
 * @param added bytes, not negative
 * @param factor not negative
 * @param divisor positive, without a common factor with {@code factor}
 * @param monomial index of the product of powers of dimensions
 */
record SizeFormula(long added, long factor, long divisor, int monomial) {

    /** Returns the formula c·m with a given value at one shape. */
    static SizeFormula proportional(long bytes, long product, int monomial) {
        long common =
                BigInteger.valueOf(bytes)
                        .gcd(BigInteger.valueOf(product))
                        .max(BigInteger.ONE)
                        .longValueExact();
        return new SizeFormula(0, bytes / common, product / common, monomial);
    }

    /**
     * Returns the size.
     *
     * @param product value of the product of dimensions
     */
    OptionalLong at(long product) {
        if (product % divisor != 0) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(
                    Math.addExact(added, Math.multiplyExact(factor, product / divisor)));
        } catch (ArithmeticException e) {
            return OptionalLong.empty();
        }
    }
}
