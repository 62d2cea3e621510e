package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.PairedRatio;
import org.djlplan.memplan.spi.PairedRatio.Noise;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Times contenders in turns until one is left.
 *
 * <p>In each round every remaining contender gets one turn, starting with another contender each
 * time. After a round two kinds of contenders drop out:
 *
 * <ol>
 *   <li>those that are measurably slower than the leader, and seem at least {@value #WORTHWHILE}
 *       times as slow;
 *   <li>those that are certainly not {@value #WORTHWHILE} times as fast as a simpler contender.
 * </ol>
 *
 * So fewer and fewer contenders get more and more turns. When time is up, the winner is the
 * simplest contender that is not measurably slower than the leader. (This follows Hoeffding races,
 * Maron and Moore 1994, with {@link PairedRatio} for the bound.)
 */
public final class Race {

    /** A set with more partitions must be at least this many times as fast to be preferred. */
    static final double WORTHWHILE = 1.01;

    /**
     * Bound for dropping a slower contender, in standard deviations; it is tested in every round.
     */
    private static final double EVERY_ROUND = 3;

    /** Bound for dropping a less simple contender, where an error costs little. */
    private static final double LITTLE_AT_STAKE = 2;

    /** Bound for the final test. */
    private static final double ONCE = 1.8;

    /** Bound for taking a contender for nearly as fast as the leader. */
    private static final double PROBABLE = 1;

    /**
     * Added to a bound for each doubling of the number of contenders, because the leader of many
     * contenders was probably lucky. It keeps the probability of any error nearly constant
     * (Bonferroni).
     */
    private static final double PER_DOUBLING = 0.4;

    /**
     * A contender that seems this many times as slow cannot win, however uncertain the measurement.
     */
    private static final double AS_FAST = 1.02;

    private final ToDoubleFunction<Contender> weight;
    private final Map<Contender, List<Double>> logs = new LinkedHashMap<>();
    private final List<Contender> running = new ArrayList<>();
    private Noise noise = Noise.USUAL;
    private int rounds;

    /**
     * @param contenders that take part
     * @param weight positive factor of a contender's nanoseconds for comparisons; 1 for latency
     *     alone
     */
    public Race(Collection<Contender> contenders, ToDoubleFunction<Contender> weight) {
        this.weight = weight;
        running.addAll(contenders);
        contenders.forEach(c -> logs.put(c, new ArrayList<>()));
    }

    /** Returns the contenders of this round, in the order of their turns. */
    public List<Contender> running() {
        List<Contender> order = new ArrayList<>(running);
        Collections.rotate(order, -rounds);
        return order;
    }

    /** Records the nanoseconds of one or more inferences: a contender's turn in this round. */
    public void turn(Contender contender, long[] nanos) {
        checkArgument(running.contains(contender), "%s is not in the race", contender);
        checkArgument(nanos.length > 0, "an empty turn");
        List<Double> own = logs.get(contender);
        checkState(own.size() == rounds, "%s has had its turn", contender);
        double median = Math.max(1, Quantiles.median().compute(nanos));
        own.add(Math.log(weight.applyAsDouble(contender) * median));
    }

    /** Removes a contender, whatever its results. */
    public void withdraw(Contender contender) {
        running.remove(contender);
    }

    /**
     * Ends a round in which all remaining contenders had their turns, and drops those that lost.
     */
    public void endRound() {
        endRoundOfAll();
        running.sort(Contender.SIMPLEST);
        leader().ifPresent(this::dropSlower);
        for (int simple = 0; simple < running.size(); simple++) {
            Contender simpler = running.get(simple);
            running.subList(simple + 1, running.size())
                    .removeIf(c -> compare(simpler, c, LITTLE_AT_STAKE).high() <= WORTHWHILE);
        }
    }

    /** Ends a round in which all remaining contenders had their turns, and drops none. */
    public void endRoundOfAll() {
        rounds++;
        for (Contender contender : running) {
            checkState(logs.get(contender).size() == rounds, "%s had no turn", contender);
        }
    }

    private void dropSlower(Contender leader) {
        // The noise belongs to the machine, so it is estimated from all rounds.
        noise = Noise.USUAL;
        for (Contender other : logs.keySet()) {
            double[] quotients = quotients(other, leader);
            if (!other.equals(leader) && quotients.length > 1) {
                noise = noise.and(Noise.of(quotients));
            }
        }
        List<Contender> slower =
                running.stream().filter(c -> slower(c, leader, EVERY_ROUND)).toList();
        running.removeAll(slower);
    }

    /** Returns whether a contender is measurably slower than the leader. */
    private boolean slower(Contender contender, Contender leader, double bound) {
        double doublings = Math.log(Math.max(2, running.size()) / 2.0) / Math.log(2);
        PairedRatio ratio = compare(contender, leader, bound + PER_DOUBLING * doublings);
        return ratio.low() > 1 && ratio.ratio() > WORTHWHILE;
    }

    /**
     * Removes contenders that seem this many times as slow as the leader, because little time is
     * left.
     */
    public void hurry(double most) {
        leader().ifPresent(leader -> running.removeIf(c -> !isWithin(most, c, leader)));
    }

    /** Returns the number of finished rounds. */
    public int rounds() {
        return rounds;
    }

    /** Returns whether the race is decided. */
    public boolean settled() {
        return running.size() <= 1;
    }

    /**
     * Returns the simplest remaining contender that is not measurably slower than the leader, and
     * does not seem {@value #AS_FAST} times as slow; empty if all were withdrawn.
     */
    public Optional<Contender> winner() {
        return winner(running);
    }

    /** Returns the winner among some of the remaining contenders. */
    public Optional<Contender> winner(List<Contender> among) {
        return leader(among)
                .flatMap(
                        leader ->
                                among.stream()
                                        .filter(c -> !slower(c, leader, ONCE))
                                        .filter(c -> compare(c, leader, ONCE).ratio() <= AS_FAST)
                                        .min(Contender.SIMPLEST));
    }

    /**
     * Returns the ratio of two contenders' times, even if they dropped out; empty if one had no
     * turn.
     *
     * @param deviations distance of the bounds, in standard deviations
     */
    public Optional<PairedRatio> ratio(Contender first, Contender second, double deviations) {
        return Stream.of(first, second).anyMatch(c -> logs.getOrDefault(c, List.of()).isEmpty())
                ? Optional.empty()
                : Optional.of(compare(first, second, deviations));
    }

    /**
     * Returns the contenders that are probably at most this many times as slow as the fastest of
     * them.
     */
    public List<Contender> within(double times, List<Contender> among) {
        return leader(among).stream()
                .flatMap(
                        leader ->
                                among.stream()
                                        .filter(
                                                c ->
                                                        compare(c, leader, PROBABLE).high() <= times
                                                                || c.equals(leader)))
                .toList();
    }

    private boolean isWithin(double times, Contender contender, Contender leader) {
        return level(contender) - level(leader) <= Math.log(times);
    }

    private Optional<Contender> leader() {
        return leader(running);
    }

    private Optional<Contender> leader(List<Contender> among) {
        return among.stream().min(Comparator.comparingDouble(this::level));
    }

    private PairedRatio compare(Contender first, Contender second, double deviations) {
        return PairedRatio.of(quotients(first, second), noise, deviations);
    }

    /** Returns a contender's relative level; comparable among contenders with the same rounds. */
    private double level(Contender contender) {
        return PairedRatio.centre(
                logs.get(contender).stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns the logarithm of the quotient for each round in which both contenders had turns. */
    private double[] quotients(Contender first, Contender second) {
        List<Double> a = logs.get(first);
        List<Double> b = logs.get(second);
        return IntStream.range(0, Math.min(a.size(), b.size()))
                .mapToDouble(round -> a.get(round) - b.get(round))
                .toArray();
    }

    /**
     * A candidate that runs with accepted outputs.
     *
     * @param candidate the candidate
     * @param kernels number of its delegate kernels
     * @param memoryBytes measured memory; 0 if the system does not report it
     */
    public record Contender(Candidate candidate, int kernels, long memoryBytes) {

        /**
         * Simplest first: fewest delegate kernels, then fewest threads, then fewest operators, then
         * kept buffers.
         */
        public static final Comparator<Contender> SIMPLEST =
                Comparator.comparingInt(Contender::kernels)
                        // The engine's default, −1, may be any number, so it counts as the largest.
                        .thenComparingInt(c -> c.candidate.threads() - 1 & Integer.MAX_VALUE)
                        .thenComparingInt(c -> c.candidate.operators().size())
                        .thenComparing(c -> c.candidate.transientBuffers());

        public Contender {
            checkArgument(kernels >= 0, "kernels: %s", kernels);
            checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
        }
    }
}
