package org.djlplan.integration.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.Locale;

/**
 * A median with a 95 % confidence interval from order statistics (sign test), which assumes nothing
 * about the distribution.
 */
record Median(double value, double low, double high) {

    private static final double ONE_SIDE = 0.025;

    static Median of(double[] values) {
        checkArgument(values.length > 0, "no values");
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        double middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
        int outside = outside(n);
        return new Median(middle, sorted[outside], sorted[n - 1 - outside]);
    }

    /** Returns how many values at each end may be left out; too few values leave none out. */
    private static int outside(int n) {
        double probability = Math.pow(0.5, n);
        double sum = 0;
        int k = 0;
        while (k < n / 2 && sum + probability <= ONE_SIDE) {
            sum += probability;
            probability *= (n - k) / (k + 1.0);
            k++;
        }
        return Math.max(0, k - 1);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%.3f (%.3f–%.3f)", value, low, high);
    }
}
