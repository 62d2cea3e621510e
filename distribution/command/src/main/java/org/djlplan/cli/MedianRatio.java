package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * The ratio of two latencies that were timed in pairs, so that disturbances affect both: the median
 * of the pairs' ratios with its 95 % confidence interval. The interval is that of the sign test,
 * which makes no assumption about the distribution; for fewer than six pairs it is the whole range.
 *
 * @param median of the ratios
 * @param low lower end of the interval
 * @param high upper end of the interval
 * @param pairs number of pairs
 */
record MedianRatio(double median, double low, double high, int pairs) {

    private static final double BEYOND_EACH_END = .025;

    /** The 97.5 % quantile of the normal distribution, used for more than {@link #EXACT} pairs. */
    private static final double NORMAL = 1.96;

    private static final int EXACT = 500;

    /**
     * Returns the ratio of the first to the second.
     *
     * @param first times, at least one
     * @param second the same number of times, each measured next to the first's
     */
    static MedianRatio of(long[] first, long[] second) {
        checkArgument(
                first.length == second.length && first.length > 0,
                "%s and %s times",
                first.length,
                second.length);
        double[] ratios = new double[first.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = (double) first[i] / second[i];
        }
        Arrays.sort(ratios);
        int outside = outside(ratios.length);
        return new MedianRatio(
                Quantiles.median().compute(ratios),
                ratios[outside],
                ratios[ratios.length - 1 - outside],
                ratios.length);
    }

    /** Returns how many of the smallest ratios lie below the interval. */
    private static int outside(int n) {
        if (n > EXACT) {
            return (int) ((n - NORMAL * Math.sqrt(n)) / 2);
        }
        // The probability of at most k heads in n coin tosses.
        double term = Math.pow(.5, n);
        double sum = term;
        int k = 0;
        while (sum <= BEYOND_EACH_END) {
            k++;
            term *= (double) (n - k + 1) / k;
            sum += term;
        }
        return Math.max(0, k - 1);
    }

    /** Returns the ratio and its interval, for people. */
    @Override
    public String toString() {
        return Figures.format("%.3f (%.3f–%.3f)", median, low, high);
    }
}
