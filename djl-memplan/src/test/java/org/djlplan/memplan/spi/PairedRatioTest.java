package org.djlplan.memplan.spi;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.djlplan.memplan.spi.PairedRatio.Noise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PairedRatioTest {

    private static final double TRUE_RATIO = Math.log(1.03);

    @ParameterizedTest
    @CsvSource({
        "1, 0.01", "2, 0.01", "5, 0.01", "20, 0.01",
        "1, 0.03", "2, 0.03", "5, 0.03", "20, 0.03",
        "2, 0.05", "5, 0.05", "20, 0.05", "40, 0.05"
    })
    void bounds_ofNoisyRoundsWithSpikes_holdAsOftenAsStated(int rounds, double noise) {
        Random random = new Random(7);
        int repetitions = 2000;
        int tooHigh = 0;
        int tooLow = 0;
        for (int i = 0; i < repetitions; i++) {
            double[] logs = new double[rounds];
            for (int round = 0; round < rounds; round++) {
                logs[round] = TRUE_RATIO + time(random, noise) - time(random, noise);
            }
            PairedRatio ratio = PairedRatio.of(logs, Noise.USUAL, 2);
            tooHigh += Math.log(ratio.low()) > TRUE_RATIO ? 1 : 0;
            tooLow += Math.log(ratio.high()) < TRUE_RATIO ? 1 : 0;
        }
        // Two standard deviations leave 2.3 % on each side. The rest is allowed because a disturbed
        // round looks like a difference, and 5 % noise is unusually much.
        double allowed = repetitions * 0.06;
        assertTrue(tooHigh <= allowed, tooHigh + " of " + repetitions + " bounds are too high");
        assertTrue(tooLow <= allowed, tooLow + " of " + repetitions + " bounds are too low");
    }

    private static double time(Random random, double noise) {
        double disturbed = random.nextDouble() < 0.02 ? 0.3 : 0;
        return noise * random.nextGaussian() + disturbed;
    }

    @Test
    void bounds_ofMoreRounds_areCloser() {
        double few = width(alternating(4));
        double many = width(alternating(40));

        assertTrue(many < few / 2, few + " " + many);
    }

    private static double[] alternating(int rounds) {
        double[] logs = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            logs[i] = i % 2 == 0 ? 0.01 : -0.01;
        }
        return logs;
    }

    private static double width(double[] logs) {
        PairedRatio ratio = PairedRatio.of(logs, Noise.USUAL, 2);
        return ratio.high() - ratio.low();
    }

    @Test
    void ratio_withOneSpike_isHardlyMoved() {
        double[] logs = alternating(10);
        logs[3] = Math.log(5);

        assertEquals(1, PairedRatio.of(logs, Noise.USUAL, 2).ratio(), 0.011);
    }

    @Test
    void and_ofTwo_weighsByCertainty() {
        Noise both = new Noise(1, 1).and(new Noise(5, 3));

        assertAll(
                () -> assertEquals(4, both.variance(), 1e-12),
                () -> assertEquals(4, both.freedom(), 1e-12));
    }

    @Test
    void of_noRounds_isRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> PairedRatio.of(new double[0], Noise.USUAL, 2));
    }
}
