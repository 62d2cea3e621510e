package org.djlplan.study.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.djlplan.study.delegation.Correlation.Feature;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class CorrelationTest {

    private static double spearman(double[] first, double[] second) {
        return Correlation.spearman(first, second).orElseThrow();
    }

    @Test
    void spearman_ofTheSameOrder_isOneWhateverTheValues() {
        assertEquals(1, spearman(new double[] {1, 2, 3, 4}, new double[] {1, 10, 100, 1e9}), 1e-12);
        assertEquals(-1, spearman(new double[] {1, 2, 3}, new double[] {9, 8, -7}), 1e-12);
    }

    @Test
    void spearman_ofAKnownSample_isAsPublished() {
        // Hours of television and intelligence of ten people; Wikipedia, "Spearman's rank
        // correlation coefficient": −29/165.
        double[] intelligence = {106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
        double[] hours = {7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
        assertEquals(-29.0 / 165, spearman(intelligence, hours), 1e-12);
    }

    @Test
    void spearman_ofEqualValues_sharesTheirRanks() {
        // Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, variances 1.5 and 2.
        assertEquals(
                1.5 / Math.sqrt(3),
                spearman(new double[] {5, 5, 6}, new double[] {1, 2, 3}),
                1e-12);
    }

    @Test
    void spearman_ofNothingThatVaries_isEmpty() {
        assertEquals(
                OptionalDouble.empty(),
                Correlation.spearman(new double[] {1, 2}, new double[] {3, 3}));
        assertEquals(
                OptionalDouble.empty(), Correlation.spearman(new double[] {1}, new double[] {3}));
        assertEquals(OptionalDouble.empty(), Correlation.spearman(new double[0], new double[0]));
        assertThrows(
                IllegalArgumentException.class,
                () -> Correlation.spearman(new double[1], new double[2]));
    }

    @Test
    void best_ofPiecesWhoseFlopsPayAndWhoseNodesDoNot_isFlops() {
        List<Piece> pieces =
                List.of(
                        new Piece(ImmutableSortedSet.of(0, 1, 2), 0, 100, 40, 8),
                        new Piece(ImmutableSortedSet.of(4, 5), 1, 900, 30, 9),
                        new Piece(ImmutableSortedSet.of(7, 8, 9, 10), 2, 20, 50, 7));
        Map<Feature, OptionalDouble> correlations =
                Correlation.withSavedNanos(pieces, List.of(2_000L, 30_000L, -500L));
        assertEquals(OptionalDouble.of(1), correlations.get(Feature.FLOPS));
        assertEquals(OptionalDouble.of(-1), correlations.get(Feature.OPERATORS));
        assertEquals(OptionalDouble.of(-1), correlations.get(Feature.WEIGHT_BYTES));
        assertEquals(OptionalDouble.of(1), correlations.get(Feature.CROSSING_BYTES));
        assertEquals(
                Optional.of(Feature.FLOPS),
                Correlation.best(
                        Map.of(
                                Feature.OPERATORS, OptionalDouble.of(.5),
                                Feature.FLOPS, OptionalDouble.of(-.9),
                                Feature.WEIGHT_BYTES, OptionalDouble.empty())));
        assertEquals(Optional.empty(), Correlation.best(Map.of()));
    }
}
