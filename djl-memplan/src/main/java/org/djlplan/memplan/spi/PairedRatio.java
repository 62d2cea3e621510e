package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;

/**
 * The ratio of two candidates' latencies, with confidence bounds.
 *
 * <p>Both are timed once per round, so a disturbance of a whole round cancels out in the logarithm
 * of their quotient. Over the rounds:
 *
 * <ol>
 *   <li>the centre is the median of all pairwise means (Hodges and Lehmann 1963): nearly as precise
 *       as the mean, and a few spikes do not move it;
 *   <li>the spread is the median absolute deviation from the centre, for the same reason;
 *   <li>few rounds may show too little spread, so their variance is averaged with that of other
 *       rounds on the same machine (the moderated t-statistic of Smyth 2004, section 4);
 *   <li>the bounds are Student's quantiles, as certain as the wanted number of standard deviations
 *       of a normal distribution.
 * </ol>
 *
 * @param ratio of the first to the second
 * @param low lower confidence bound
 * @param high upper confidence bound
 */
public record PairedRatio(double ratio, double low, double high) {

    /**
     * Factor from the median absolute deviation of a normal distribution to its standard deviation.
     */
    private static final double DEVIATION = 1.4826;

    public PairedRatio {
        checkArgument(0 < low && low <= ratio && ratio <= high, "%s in %s…%s", ratio, low, high);
    }

    /**
     * The spread of the logarithms of quotients on a machine.
     *
     * @param variance of one round
     * @param freedom number of rounds on which the estimate is based, more than 0
     */
    public record Noise(double variance, double freedom) {

        /** A prior: neighbouring runs of one program differ by some percent. */
        public static final Noise USUAL = new Noise(0.04 * 0.04, 3);

        public Noise {
            checkArgument(variance >= 0, "variance: %s", variance);
            checkArgument(freedom > 0, "freedom: %s", freedom);
        }

        /** Returns the noise estimated from two or more rounds. */
        public static Noise of(double[] logs) {
            int rounds = logs.length;
            double centre = centre(logs);
            double[] deviations = Arrays.stream(logs).map(x -> Math.abs(x - centre)).toArray();
            // The last factor corrects the bias of a median of few deviations.
            double spread = DEVIATION * median(deviations) * rounds / (rounds - 0.8);
            // A median contains about half as much information on the spread as all deviations
            // would.
            return new Noise(spread * spread, (rounds - 1) / 2.0);
        }

        /** Returns the combined estimate. */
        public Noise and(Noise other) {
            double sum = freedom + other.freedom;
            return new Noise((freedom * variance + other.freedom * other.variance) / sum, sum);
        }
    }

    /**
     * Compares two candidates.
     *
     * @param logs the logarithm of the quotient for each round, at least one
     * @param before estimate of the noise without these rounds
     * @param deviations distance of the bounds, in standard deviations for many rounds
     */
    public static PairedRatio of(double[] logs, Noise before, double deviations) {
        checkArgument(logs.length > 0, "no rounds");
        double centre = centre(logs);
        Noise noise = logs.length > 1 ? before.and(Noise.of(logs)) : before;
        double reach = student(noise.freedom, deviations) * Math.sqrt(noise.variance / logs.length);
        return new PairedRatio(
                Math.exp(centre), Math.exp(centre - reach), Math.exp(centre + reach));
    }

    /** Returns the median of the means of all pairs, including each value with itself. */
    public static double centre(double[] values) {
        double[] means = new double[values.length * (values.length + 1) / 2];
        int n = 0;
        for (int i = 0; i < values.length; i++) {
            for (int j = 0; j <= i; j++) {
                means[n++] = (values[i] + values[j]) / 2;
            }
        }
        return median(means);
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** Returns Student's quantile for a normal quantile (Abramowitz and Stegun 1964, 26.7.5). */
    private static double student(double freedom, double x) {
        double x3 = x * x * x;
        double x5 = x3 * x * x;
        double x7 = x5 * x * x;
        return x
                + (x3 + x) / (4 * freedom)
                + (5 * x5 + 16 * x3 + 3 * x) / (96 * freedom * freedom)
                + (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * freedom * freedom * freedom);
    }
}
