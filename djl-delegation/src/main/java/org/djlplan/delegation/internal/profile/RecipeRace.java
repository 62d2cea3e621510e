package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.Race;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.PairedRatio;
import org.djlplan.memplan.spi.PairedRatio.Noise;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Chooses between stock and the recipes of a model.
 *
 * <ol>
 *   <li>Each is prepared and its outputs are compared with stock's.
 *   <li>All that are accepted and within the memory limit are timed in turns. A recipe that seems
 *       {@value #HOPELESS} times as slow as the fastest is dropped after a few rounds.
 *   <li>A recipe that does not take at most {@value #CLEARLY_FASTER} times as long as stock, beyond
 *       the noise of the measurement, is dropped. (If memory is to be minimized, it need not be
 *       faster.)
 *   <li>Of those that probably take at most {@value #NEARLY_AS_FAST} times as long as the fastest,
 *       the ones with the least memory stay; of these, the simplest that is not measurably slower
 *       than the fastest wins. (With another objective than latency, memory counts as this
 *       objective says.) A recipe of a lower precision wins only if it takes at most {@value
 *       #CLEARLY_FASTER} times as long as the winner of the others, beyond the noise.
 *   <li>A winner that takes more than {@value #SLOWER_AT_A_SHAPE} times as long as stock at one of
 *       the measured shapes is dropped, and the others race again.
 * </ol>
 */
final class RecipeRace {

    /** Within this factor of the fastest, less memory counts more than less time. */
    static final double NEARLY_AS_FAST = 1.1;

    /** A recipe's time must be at most this multiple of stock's. */
    static final double CLEARLY_FASTER = 0.95;

    /** A recipe must not be slower than this at any measured shape, as a multiple of stock. */
    static final double SLOWER_AT_A_SHAPE = 1.02;

    private static final double HOPELESS = 1.25;

    /** Turns of each contender. */
    private static final int ROUNDS = 20;

    /** Minimum number of turns, even if time is up. */
    private static final int LEAST_ROUNDS = 3;

    /** Turns at each shape. */
    private static final int SHAPE_ROUNDS = 21;

    /** Minimum number of turns at each shape, even if time is up. */
    private static final int LEAST_SHAPE_ROUNDS = 5;

    /** Bound of a ratio, in standard deviations. */
    private static final double CERTAIN = 2;

    private final Request request;
    private final Trials trials;
    private final Goal goal;

    RecipeRace(Request request, Trials trials) {
        this.request = request;
        this.trials = trials;
        goal = request.goal();
    }

    /** Returns the accepted candidates, prepared, stock first; empty if stock does not run. */
    List<Contender> contenders() throws InterruptedException {
        int threads = request.threads().get(0);
        List<Contender> contenders = new ArrayList<>();
        trials.prove(Candidate.cpu(threads)).ifPresent(contenders::add);
        if (!contenders.isEmpty()) {
            for (String recipe : request.recipes()) {
                trials.prove(Candidate.ofRecipe(recipe, threads)).ifPresent(contenders::add);
            }
        }
        return contenders;
    }

    /**
     * Times the contenders, and returns the winner; empty if none is within the memory limit.
     *
     * @param contenders as {@link #contenders} returns them
     */
    Optional<Contender> winner(List<Contender> contenders) throws InterruptedException {
        Contender stock = contenders.get(0);
        List<Contender> left = new ArrayList<>(contenders);
        while (true) {
            Race race = race(left);
            Optional<Contender> best =
                    best(
                            race,
                            race.running().stream()
                                    .filter(c -> c.equals(stock) || isClearlyFaster(race, c, stock))
                                    .toList());
            if (best.isEmpty()) {
                return goal.eligible(contenders).stream().filter(stock::equals).findFirst();
            }
            if (best.get().equals(stock) || !isSlowerAtAShape(best.get(), stock)) {
                return best;
            }
            left.remove(best.get());
        }
    }

    private Optional<Contender> best(Race race, List<Contender> among) {
        Map<Boolean, List<Contender>> isLower =
                among.stream()
                        .collect(
                                Collectors.partitioningBy(
                                        c -> request.tolerance().isLower(c.candidate())));
        List<Contender> others = isLower.get(false);
        boolean latency = goal.objective() == Objective.LATENCY;
        Optional<Contender> best =
                race.winner(latency ? Goal.lightest(race.within(NEARLY_AS_FAST, others)) : others);
        return race.winner(isLower.get(true))
                .filter(lower -> best.isEmpty() || isClearlyFaster(race, lower, best.get()))
                .or(() -> best);
    }

    private boolean isClearlyFaster(Race race, Contender recipe, Contender other) {
        return goal.objective() == Objective.MEMORY
                || race.ratio(recipe, other, CERTAIN)
                        .filter(ratio -> ratio.ratio() <= CLEARLY_FASTER && ratio.high() < 1)
                        .isPresent();
    }

    private Race race(List<Contender> contenders) throws InterruptedException {
        List<Contender> ready = new ArrayList<>();
        for (Contender contender : contenders) {
            trials.prove(contender.candidate()).ifPresent(ready::add);
        }
        Race race = new Race(ready, goal::weight);
        do {
            for (Contender contender : race.running()) {
                Optional<long[]> turn = trials.turn(contender, Profiler.PER_TURN);
                if (turn.isPresent()) {
                    race.turn(contender, turn.get());
                    if (contender.candidate().isStock()) {
                        trials.budget().inferenceTakes(Quantiles.median().compute(turn.get()));
                    }
                } else {
                    race.withdraw(contender);
                }
            }
            if (race.rounds() == 0) {
                List<Contender> eligible = goal.eligible(race.running());
                ready.stream().filter(c -> !eligible.contains(c)).forEach(race::withdraw);
            }
            race.endRoundOfAll();
            if (race.rounds() >= LEAST_ROUNDS) {
                race.hurry(HOPELESS);
            }
            ready.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        } while (goesOn(race));
        return race;
    }

    private boolean goesOn(Race race) {
        return race.rounds() < LEAST_ROUNDS
                || (race.rounds() < ROUNDS && !race.settled() && trials.budget().spent() < 1);
    }

    private boolean isSlowerAtAShape(Contender recipe, Contender stock)
            throws InterruptedException {
        if (trials.prove(stock.candidate()).isEmpty()) {
            return true;
        }
        List<double[]> logs = new ArrayList<>();
        while (logs.size() < LEAST_SHAPE_ROUNDS
                || (logs.size() < SHAPE_ROUNDS && trials.budget().spent() < 1)) {
            Optional<long[]> stocks = trials.turnAtEachShape(stock);
            Optional<long[]> recipes = trials.turnAtEachShape(recipe);
            if (stocks.isEmpty() || recipes.isEmpty()) {
                return true;
            }
            logs.add(
                    IntStream.range(0, stocks.get().length)
                            .mapToDouble(i -> log(recipes.get()[i]) - log(stocks.get()[i]))
                            .toArray());
            List<PairedRatio> ratios = ratios(logs);
            if (logs.size() >= LEAST_SHAPE_ROUNDS
                    && ratios.stream().allMatch(ratio -> ratio.high() <= SLOWER_AT_A_SHAPE)) {
                return false;
            }
            if (ratios.stream().anyMatch(ratio -> ratio.low() > SLOWER_AT_A_SHAPE)) {
                return true;
            }
        }
        return ratios(logs).stream().anyMatch(ratio -> ratio.ratio() > SLOWER_AT_A_SHAPE);
    }

    private static double log(long nanos) {
        return Math.log((double) Math.max(1, nanos));
    }

    /** Returns a ratio for each shape. */
    private static List<PairedRatio> ratios(List<double[]> logs) {
        return IntStream.range(0, logs.get(0).length)
                .mapToObj(
                        shape ->
                                PairedRatio.of(
                                        logs.stream().mapToDouble(round -> round[shape]).toArray(),
                                        Noise.USUAL,
                                        CERTAIN))
                .toList();
    }
}
