package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;

import com.google.common.math.Quantiles;
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
import org.djlplan.delegation.choice.PairedRatio.Noise;
import org.djlplan.memplan.spi.Candidate;

/**
 * Contenders that are timed in turns until one is left.
 *
 * <p>Each round gives every contender that is still in the race one turn, starting with another one
 * each time. After a round two kinds drop out:
 *
 * <ol>
 *   <li>what is measurably slower than the leader, {@value #WORTHWHILE} times or more as it seems;
 *   <li>what is surely not {@value #WORTHWHILE} times as fast as a simpler one.
 * </ol>
 *
 * So more and more turns go to fewer and fewer contenders. Of those that are left when time is up,
 * the simplest wins that is not measurably slower than the leader. (The scheme is that of Hoeffding
 * races, Maron and Moore 1994, with {@link PairedRatio} for the bound.)
 */
public final class Race {

    /** A set of more partitions that is not so many times as fast is not worth having. */
    static final double WORTHWHILE = 1.01;

    /** Bound for dropping the slower one, in standard deviations: it is looked at every round. */
    private static final double EVERY_ROUND = 3;

    /** Bound for dropping the less simple one: an error costs little. */
    private static final double LITTLE_AT_STAKE = 2;

    /** Bound for the last look. */
    private static final double ONCE = 1.8;

    /**
     * Added to a bound for each doubling of the contenders: the leader of many was lucky. Keeps the
     * probability of one error among all nearly the same (Bonferroni).
     */
    private static final double PER_DOUBLING = 0.4;

    /** The simpler one may seem so many times slower, however little is known. */
    private static final double AS_FAST = 1.02;

    private final ToDoubleFunction<Contender> weight;
    private final Map<Contender, List<Double>> logs = new LinkedHashMap<>();
    private final List<Contender> running = new ArrayList<>();
    private Noise noise = Noise.USUAL;
    private int rounds;

    /**
     * @param contenders who takes part
     * @param weight what a contender's nanoseconds are multiplied by to be compared, positive; 1
     *     for latency alone
     */
    public Race(Collection<Contender> contenders, ToDoubleFunction<Contender> weight) {
        this.weight = weight;
        running.addAll(contenders);
        contenders.forEach(c -> logs.put(c, new ArrayList<>()));
    }

    /** Returns those whose turn it is in this round, in the order of their turns. */
    public List<Contender> running() {
        List<Contender> order = new ArrayList<>(running);
        Collections.rotate(order, -rounds);
        return order;
    }

    /** Notes the nanoseconds of some inferences, at least one: a contender's turn in this round. */
    public void turn(Contender contender, long[] nanos) {
        checkArgument(running.contains(contender), "%s is not in the race", contender);
        checkArgument(nanos.length > 0, "an empty turn");
        List<Double> own = logs.get(contender);
        checkState(own.size() == rounds, "%s has had its turn", contender);
        double median = Math.max(1, Quantiles.median().compute(nanos));
        own.add(Math.log(weight.applyAsDouble(contender) * median));
    }

    /** Takes a contender out, whatever it has shown so far. */
    public void withdraw(Contender contender) {
        running.remove(contender);
    }

    /** Ends a round in which all that run have had their turns: those that lost drop out. */
    public void endRound() {
        rounds++;
        for (Contender contender : running) {
            checkState(logs.get(contender).size() == rounds, "%s had no turn", contender);
        }
        running.sort(Contender.SIMPLEST);
        leader().ifPresent(this::dropSlower);
        for (int simple = 0; simple < running.size(); simple++) {
            Contender simpler = running.get(simple);
            running.subList(simple + 1, running.size())
                    .removeIf(c -> compare(simpler, c, LITTLE_AT_STAKE).high() <= WORTHWHILE);
        }
    }

    private void dropSlower(Contender leader) {
        // The noise is the machine's, so all rounds tell of it.
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

    /** Takes out what seems so many times slower than the leader, as there is little time left. */
    public void hurry(double most) {
        leader().ifPresent(
                        leader -> running.removeIf(c -> level(c) - level(leader) > Math.log(most)));
    }

    /** Returns how many rounds have ended. */
    public int rounds() {
        return rounds;
    }

    /** Returns whether there is nothing left to find out. */
    public boolean settled() {
        return running.size() <= 1;
    }

    /**
     * Returns the simplest of those in the race that is not measurably slower than the leader, nor
     * seems {@value #AS_FAST} times as slow; empty if all were withdrawn.
     */
    public Optional<Contender> winner() {
        return leader().flatMap(
                        leader ->
                                running.stream()
                                        .filter(c -> !slower(c, leader, ONCE))
                                        .filter(c -> compare(c, leader, ONCE).ratio() <= AS_FAST)
                                        .min(Contender.SIMPLEST));
    }

    private Optional<Contender> leader() {
        return running.stream().min(Comparator.comparingDouble(this::level));
    }

    private PairedRatio compare(Contender first, Contender second, double deviations) {
        return PairedRatio.of(quotients(first, second), noise, deviations);
    }

    /** Returns where a contender stands; comparable among those that had the same rounds. */
    private double level(Contender contender) {
        return PairedRatio.centre(
                logs.get(contender).stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns the logarithm of the quotient for each round in which both had turns. */
    private double[] quotients(Contender first, Contender second) {
        List<Double> a = logs.get(first);
        List<Double> b = logs.get(second);
        return IntStream.range(0, Math.min(a.size(), b.size()))
                .mapToDouble(round -> a.get(round) - b.get(round))
                .toArray();
    }

    /**
     * A candidate that runs and whose outputs are right.
     *
     * @param candidate which
     * @param kernels how many delegate kernels it has
     * @param memoryBytes what it takes, as measured; 0 where the system does not tell
     */
    public record Contender(Candidate candidate, int kernels, long memoryBytes) {

        /**
         * The simplest first: fewest delegate kernels, then fewest threads, then fewest operators,
         * then buffers that are kept.
         */
        public static final Comparator<Contender> SIMPLEST =
                Comparator.comparingInt(Contender::kernels)
                        // The engine's default, −1, may be any number: it counts as the most.
                        .thenComparingInt(c -> c.candidate.threads() - 1 & Integer.MAX_VALUE)
                        .thenComparingInt(c -> c.candidate.operators().size())
                        .thenComparing(c -> c.candidate.transientBuffers());

        public Contender {
            checkArgument(kernels >= 0, "kernels: %s", kernels);
            checkArgument(memoryBytes >= 0, "memoryBytes: %s", memoryBytes);
        }
    }
}
