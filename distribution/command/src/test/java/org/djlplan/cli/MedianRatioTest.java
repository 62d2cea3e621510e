package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MedianRatioTest {

    /** Returns the result for the ratios 1, 2, …, n, in another order. */
    private static MedianRatio upTo(int n) {
        long[] first = LongStream.rangeClosed(1, n).map(i -> 1 + 7 * i % n).toArray();
        long[] ones = new long[n];
        Arrays.fill(ones, 1);
        return MedianRatio.of(first, ones);
    }

    /** Compares the ends of the interval with tables of the sign test. */
    @ParameterizedTest
    @CsvSource({"1, 1, 1", "5, 1, 5", "6, 1, 6", "9, 2, 8", "15, 4, 12", "50, 18, 33"})
    void of_pairs_hasTheSignTestsInterval(int pairs, double low, double high) {
        assertEquals(new MedianRatio((pairs + 1) / 2.0, low, high, pairs), upTo(pairs));
    }

    @Test
    void of_manyPairs_isNarrowAroundTheMedian() {
        MedianRatio ratio = upTo(2000);
        assertEquals(1000.5, ratio.median());
        assertEquals(957, ratio.low());
        assertEquals(1044, ratio.high());
    }

    @Test
    void of_slowRound_cancelsOut() {
        assertEquals(
                new MedianRatio(2, 2, 2, 3),
                MedianRatio.of(new long[] {20, 2000, 40}, new long[] {10, 1000, 20}));
    }

    @Test
    void of_noPairs_isAnError() {
        assertThrows(
                IllegalArgumentException.class, () -> MedianRatio.of(new long[0], new long[0]));
    }
}
