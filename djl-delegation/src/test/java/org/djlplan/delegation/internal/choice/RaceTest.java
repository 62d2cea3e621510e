package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class RaceTest {

    private static final Contender CPU = new Contender(Candidate.cpu(1), 0, 100);
    private static final Contender ONE = contender(1);
    private static final Contender TWO = contender(2);
    private static final Contender THREE = contender(3);

    private static Contender contender(int kernels) {
        ImmutableSortedSet<Integer> operators =
                IntStream.range(0, kernels)
                        .boxed()
                        .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
        return new Contender(new Candidate(operators, 1), kernels, 100L + kernels);
    }

    private static Race race(Contender... contenders) {
        return new Race(List.of(contenders), contender -> 1);
    }

    private static void round(Race race, Map<Contender, Long> nanos) {
        race.running().forEach(c -> race.turn(c, new long[] {nanos.get(c)}));
        race.endRound();
    }

    @Test
    void endRound_severalTimesSlower_dropsAtOnce() {
        Race race = race(CPU, ONE);

        round(race, Map.of(CPU, 5_000_000L, ONE, 1_000_000L));

        assertEquals(List.of(ONE), race.running());
        assertTrue(race.settled());
    }

    @Test
    void endRound_fewPercentSlower_takesRounds() {
        Race race = race(CPU, ONE);

        round(race, Map.of(CPU, 1_060_000L, ONE, 1_000_000L));
        assertEquals(2, race.running().size());

        for (int i = 0; i < 5 && !race.settled(); i++) {
            round(race, Map.of(CPU, 1_060_000L, ONE, 1_000_000L));
        }
        assertEquals(List.of(ONE), race.running());
    }

    @Test
    void winner_faintlyFasterButNotSurely_isTheSimplest() {
        Race race = race(ONE, TWO);

        round(race, Map.of(ONE, 1_015_000L, TWO, 1_000_000L));

        assertEquals(Optional.of(ONE), race.winner());
    }

    @Test
    void winner_simplerSeemsSlowerButNotSurely_isTheFaster() {
        Race race = race(ONE, TWO);

        round(race, Map.of(ONE, 1_030_000L, TWO, 1_000_000L));

        assertEquals(Optional.of(TWO), race.winner());
    }

    @Test
    void hurry_muchSlowerContender_isRemoved() {
        Race race = race(ONE, TWO, THREE);

        round(race, Map.of(ONE, 1_000_000L, TWO, 1_050_000L, THREE, 1_110_000L));
        race.hurry(1.1);

        assertEquals(
                List.of(ONE, TWO), race.running().stream().sorted(Contender.SIMPLEST).toList());
    }

    @Test
    void winner_equalInTruth_isTheSimplestNearlyAlways() {
        Random random = new Random(3);
        int simplest = 0;
        int races = 300;
        for (int i = 0; i < races; i++) {
            Race race = race(CPU, ONE, TWO);
            while (!race.settled() && race.rounds() < 40) {
                round(
                        race,
                        race.running().stream()
                                .collect(Collectors.toMap(c -> c, c -> noisy(random))));
            }
            simplest += race.winner().equals(Optional.of(CPU)) ? 1 : 0;
        }
        // Share of 300 races with 2 % noise and 2 % of the turns disturbed.
        assertTrue(simplest >= 0.96 * races, simplest + " of " + races);
    }

    private static long noisy(Random random) {
        double spike = random.nextDouble() < 0.02 ? 1.4 : 1;
        return Math.round(1e6 * spike * Math.exp(0.02 * random.nextGaussian()));
    }

    @Test
    void running_eachRound_beginsWithAnother() {
        Race race = race(CPU, ONE, TWO);
        Map<Contender, Long> nanos = Map.of(CPU, 1_000L, ONE, 980L, TWO, 960L);

        Contender first = race.running().get(0);
        round(race, nanos);
        Contender second = race.running().get(0);

        assertEquals(List.of(CPU, ONE), List.of(first, second));
    }

    @Test
    void winner_allWithdrawn_isEmpty() {
        Race race = race(CPU);

        race.withdraw(CPU);
        race.endRound();

        assertEquals(Optional.empty(), race.winner());
    }

    @Test
    void turn_twiceInARound_isRefused() {
        Race race = race(CPU, ONE);
        race.turn(CPU, new long[] {1});

        assertThrows(IllegalStateException.class, () -> race.turn(CPU, new long[] {1}));
        assertThrows(IllegalStateException.class, race::endRound);
    }
}
