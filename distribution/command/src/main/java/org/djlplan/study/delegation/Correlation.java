package org.djlplan.study.delegation;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;

/** Computes rank correlations: how well one quantity predicts the order of another. */
public final class Correlation {

    private Correlation() {}

    /**
     * Returns Spearman's rank correlation of two quantities: Pearson's correlation of their ranks,
     * where equal values share the mean of their ranks (Spearman 1904). It is 1 if one grows
     * whenever the other does, and −1 if it falls whenever the other grows. Empty for fewer than
     * two pairs, or if all values of either are the same.
     *
     * @throws IllegalArgumentException if the lengths differ
     */
    public static OptionalDouble spearman(double[] first, double[] second) {
        checkArgument(
                first.length == second.length, "%s and %s values", first.length, second.length);
        return pearson(ranks(first), ranks(second));
    }

    /**
     * Returns how well each feature of pieces predicts the time saved by delegating a piece,
     * compared with the CPU kernels.
     *
     * @param savedNanos for each piece, negative if the delegate is slower
     */
    public static ImmutableMap<Feature, OptionalDouble> withSavedNanos(
            List<Piece> pieces, List<Long> savedNanos) {
        double[] saved = savedNanos.stream().mapToDouble(Long::doubleValue).toArray();
        return Maps.toMap(
                Arrays.asList(Feature.values()),
                feature -> spearman(pieces.stream().mapToDouble(feature::of).toArray(), saved));
    }

    /** Returns the feature with the strongest correlation of either sign; on a tie, the first. */
    public static Optional<Feature> best(Map<Feature, OptionalDouble> correlations) {
        Optional<Feature> best = Optional.empty();
        double strongest = 0;
        for (Feature feature : Feature.values()) {
            OptionalDouble correlation = correlations.getOrDefault(feature, OptionalDouble.empty());
            if (correlation.isPresent() && Math.abs(correlation.getAsDouble()) > strongest) {
                strongest = Math.abs(correlation.getAsDouble());
                best = Optional.of(feature);
            }
        }
        return best;
    }

    /**
     * A rank is one plus the number of smaller values plus half the number of other equal values.
     */
    private static double[] ranks(double[] values) {
        return Arrays.stream(values)
                .map(
                        value -> {
                            long smaller = Arrays.stream(values).filter(v -> v < value).count();
                            long equal = Arrays.stream(values).filter(v -> v == value).count();
                            return 1 + smaller + (equal - 1) / 2.0;
                        })
                .toArray();
    }

    private static OptionalDouble pearson(double[] first, double[] second) {
        double meanFirst = Arrays.stream(first).average().orElse(0);
        double meanSecond = Arrays.stream(second).average().orElse(0);
        double product = 0;
        double squaresFirst = 0;
        double squaresSecond = 0;
        for (int i = 0; i < first.length; i++) {
            double a = first[i] - meanFirst;
            double b = second[i] - meanSecond;
            product += a * b;
            squaresFirst += a * a;
            squaresSecond += b * b;
        }
        return squaresFirst == 0 || squaresSecond == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(product / Math.sqrt(squaresFirst * squaresSecond));
    }

    /**
     * A feature of a piece that is known before a measurement, and may predict how much time
     * delegating the piece saves. TensorFlow Lite itself uses {@link #OPERATORS}: of many
     * partitions it delegates those with the most nodes.
     */
    public enum Feature {
        /** The number of its operators. */
        OPERATORS,
        /** FLOPs of one inference. */
        FLOPS,
        /** Bytes of the constants it reads. */
        WEIGHT_BYTES,
        /** Bytes of the tensors that enter and leave it. */
        CROSSING_BYTES;

        /** Returns a piece's value. */
        public long of(Piece piece) {
            return switch (this) {
                case OPERATORS -> piece.operators().size();
                case FLOPS -> piece.flops();
                case WEIGHT_BYTES -> piece.weightBytes();
                case CROSSING_BYTES -> piece.crossingBytes();
            };
        }
    }
}
