package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.djlplan.delegation.internal.choice.Dataflow;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.choice.Units;
import org.djlplan.delegation.internal.choice.Units.Unit;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Searches the sets of partitions that may be the best to delegate. Each is verified and timed in a
 * few runs; the best of them race afterwards.
 *
 * <ol>
 *   <li>Nothing, and everything. The search ends if everything is clearly faster, is one partition,
 *       and memory does not count.
 *   <li>If everything is wrong or fails: everything except the operators that are known to be
 *       wrong; otherwise the partitions, or their parts, that are right alone.
 *   <li>If memory counts, or everything is not clearly faster, partitions are cut into parts.
 *   <li>The partitions that gain time, by the node times of nothing and everything. If that set
 *       cannot be used, or memory counts, everything but each partition is tried, and a set is
 *       grown from nothing, beginning with the largest gain; a partition that would make it too
 *       large is left out.
 *   <li>The best set so far with each partition added or removed, beginning with the smallest gain
 *       that matters.
 *   <li>If memory counts and the delegate can build its buffers for each prediction: everything in
 *       this mode, and sets grown in this mode.
 * </ol>
 */
final class SetSearch {

    /** If everything takes less than this fraction of the CPU time, partitions stay whole. */
    private static final double CLEARLY_FASTER = 0.8;

    /** Partitions are cut into this many parts. */
    private static final int PARTS = 8;

    /** If more operators than this are wrong, the delegate counts as wrong. */
    private static final int MOST_LEFT_OUT = 8;

    /** Number of raced sets, besides nothing and everything. */
    private static final int RACED = 6;

    /** The rest of the time is for the race. */
    private static final double PART_BEFORE_RACE = 0.4;

    /** The same if memory counts, because more sets are to be tried. */
    private static final double PART_FOR_MEMORY = 0.7;

    /** A gain or a loss below this fraction of the CPU time does not matter. */
    private static final double NEGLIGIBLE = 0.003;

    private final Graph graph;
    private final Trials trials;
    private final Goal goal;
    private final Consumer<Contender> verified;
    private final int threads;
    private final List<Tried> tried = new ArrayList<>();
    private List<Set<Integer>> partitions;
    private Units units;

    /** The nanoseconds that each unit saves in the delegate. */
    private List<Double> gains = List.of();

    /** A candidate that runs with accepted outputs, its time, and its cost by the goal. */
    private record Tried(Contender contender, double nanos, double cost) {

        Candidate candidate() {
            return contender.candidate();
        }
    }

    /**
     * @param partitions that may be delegated
     * @param threads of all candidates
     * @param verified receives everything that the delegate supports, if it is clearly faster than
     *     the CPU kernels, before the best is found
     */
    SetSearch(
            Graph graph,
            List<? extends Set<Integer>> partitions,
            int threads,
            Trials trials,
            Goal goal,
            Consumer<Contender> verified) {
        this.graph = graph;
        this.partitions = List.copyOf(partitions);
        this.threads = threads;
        this.trials = trials;
        this.goal = goal;
        this.verified = verified;
        units = Units.of(graph, partitions);
    }

    /** Returns the number of units of which sets are searched; 0 if nothing is left to search. */
    int size() {
        return units.all().size();
    }

    /**
     * Searches.
     *
     * @param transientBuffers whether the delegate can build its buffers for each prediction
     */
    void search(boolean transientBuffers) throws InterruptedException {
        Optional<Tried> cpu = tried(Set.of(), false);
        if (cpu.isEmpty()) {
            return;
        }
        trials.budget().inferenceTakes(cpu.get().nanos());
        Optional<Tried> all = everything();
        boolean clear = all.isPresent() && all.get().nanos() < CLEARLY_FASTER * cpu.get().nanos();
        boolean isLight =
                goal.objective() == Objective.LATENCY
                        && all.isPresent()
                        && goal.admits(all.get().contender());
        if (clear && isLight) {
            verified.accept(all.get().contender());
        }
        if (units.all().isEmpty() || (clear && isLight && size() == 1)) {
            return;
        }
        if (!clear || !isLight) {
            units = units.cut(PARTS);
        }
        gains = gains(cpu.get(), all);
        boolean found = false;
        for (double least : new double[] {0, NEGLIGIBLE * cpu.get().nanos()}) {
            Set<Integer> gaining = Sets.filter(units.indices(), unit -> gains.get(unit) > least);
            found |= isLight && tried(gaining, false).isPresent();
        }
        improve(cpu.get(), all, false, found);
        if (transientBuffers && !isLight) {
            Optional<Tried> smaller = tried(units.indices(), true);
            boolean fits = smaller.isPresent() && goal.admits(smaller.get().contender());
            improve(cpu.get(), smaller, true, fits);
        }
    }

    /** Returns the best sets, nothing and everything, prepared. */
    List<Contender> best() throws InterruptedException {
        List<Contender> best = new ArrayList<>();
        for (Contender contender : kept()) {
            trials.prove(contender.candidate()).ifPresent(best::add);
        }
        return best;
    }

    private Set<Contender> kept() {
        Set<Contender> kept = new LinkedHashSet<>();
        tried.stream().limit(2).map(Tried::contender).forEach(kept::add);
        tried.stream()
                .filter(each -> !trials.rejected(each.candidate()))
                .sorted(Comparator.comparingDouble(Tried::cost))
                .map(Tried::contender)
                .filter(contender -> !kept.contains(contender))
                .limit(RACED)
                .forEach(kept::add);
        return kept;
    }

    private Candidate candidate(Set<Integer> set, boolean transientBuffers) {
        return new Candidate(units.operators(set), threads, transientBuffers && !set.isEmpty());
    }

    /** Verifies and times a set; empty if it cannot be used. */
    private Optional<Tried> tried(Set<Integer> set, boolean transientBuffers)
            throws InterruptedException {
        Candidate candidate = candidate(set, transientBuffers);
        Optional<Tried> known =
                tried.stream().filter(each -> each.candidate().equals(candidate)).findFirst();
        if (known.isPresent()) {
            return known;
        }
        Optional<Contender> proven = trials.prove(candidate);
        Optional<long[]> turn =
                proven.isPresent()
                        ? trials.turn(proven.get(), Profiler.PER_TURN)
                        : Optional.empty();
        if (turn.isEmpty()) {
            return Optional.empty();
        }
        double nanos = Math.max(1, Quantiles.median().compute(turn.get()));
        Contender contender = proven.get();
        double cost = goal.cost(nanos, (double) contender.memoryBytes(), contender.kernels());
        Tried now = new Tried(contender, nanos, cost);
        tried.add(now);
        Set<Contender> kept = kept();
        tried.stream()
                .map(Tried::contender)
                .filter(each -> !kept.contains(each))
                .forEach(trials::release);
        return Optional.of(now);
    }

    /** Returns everything that can be delegated; units that cannot are left out from now on. */
    private Optional<Tried> everything() throws InterruptedException {
        Optional<Tried> all = all();
        for (int leftOut = 0; all.isEmpty() && leftOut < MOST_LEFT_OUT; leftOut++) {
            OptionalInt wrong = trials.wrongOperator(candidate(units.indices(), false));
            if (wrong.isEmpty()) {
                break;
            }
            partitions = Dataflow.partitionsWithout(graph, partitions, Set.of(wrong.getAsInt()));
            units = Units.of(graph, partitions);
            all = all();
        }
        if (all.isEmpty()) {
            List<Unit> right = rightAlone();
            Set<Unit> failing = new LinkedHashSet<>(units.all());
            failing.removeAll(right);
            Units whole = units;
            units = whole.with(failing).cut(PARTS);
            right.addAll(rightAlone());
            units = whole.with(right);
            all = all();
        }
        return all;
    }

    private Optional<Tried> all() throws InterruptedException {
        return units.all().isEmpty() ? Optional.empty() : tried(units.indices(), false);
    }

    private List<Unit> rightAlone() throws InterruptedException {
        List<Unit> right = new ArrayList<>();
        for (int unit : units.indices()) {
            if (tried(Set.of(unit), false).isPresent()) {
                right.add(units.all().get(unit));
            }
        }
        return right;
    }

    /**
     * Returns the nanoseconds that each unit saves in the delegate. The time of a delegate kernel
     * with several units is divided in proportion to their times on the CPU.
     */
    private List<Double> gains(Tried cpu, Optional<Tried> all) throws InterruptedException {
        Map<Integer, Long> onCpu = new HashMap<>();
        for (NodeTime node : trials.profile(cpu.contender()).orElse(List.of())) {
            onCpu.put(node.operators().first(), node.nanos());
        }
        List<NodeTime> nodes =
                all.isPresent()
                        ? trials.profile(all.get().contender()).orElse(List.of())
                        : List.of();
        List<Double> saved = new ArrayList<>();
        for (Unit unit : units.all()) {
            double own = nanos(unit.operators(), onCpu);
            double nanos = own;
            for (NodeTime node : nodes) {
                Set<Integer> common = Sets.intersection(node.operators(), unit.operators());
                if (node.delegated() && !common.isEmpty()) {
                    double share = nanos(common, onCpu) / nanos(node.operators(), onCpu);
                    nanos -= share * node.nanos();
                }
            }
            saved.add(nanos);
        }
        return saved;
    }

    /** Counts 1 ns more for each operator, so that no time is 0. */
    private static double nanos(Set<Integer> operators, Map<Integer, Long> onCpu) {
        return operators.stream().mapToLong(each -> onCpu.getOrDefault(each, 0L) + 1).sum();
    }

    /**
     * Tries everything but each unit, and adds units to nothing as long as the set is not too
     * large. Then improves the best set by adding or removing each unit.
     *
     * @param known whether a good set is known already, so that only the last step is needed
     */
    private void improve(
            Tried nothing, Optional<Tried> everything, boolean transientBuffers, boolean known)
            throws InterruptedException {
        List<Integer> byGain = new ArrayList<>(units.indices());
        byGain.sort(Comparator.comparing(gains::get));
        if (!known && everything.isPresent()) {
            for (int unit : byGain) {
                Optional<Tried> unused = tryNext(everything.get(), unit, transientBuffers);
            }
        }
        Collections.reverse(byGain);
        Tried last = nothing;
        for (int unit : known ? List.<Integer>of() : byGain) {
            Optional<Tried> next = tryNext(last, unit, transientBuffers);
            if (next.isPresent() && !isTooLarge(next.get(), last)) {
                last = next.get();
            }
        }
        Tried base =
                tried.stream()
                        .filter(each -> isOfMode(each.candidate(), transientBuffers))
                        .min(Comparator.comparingDouble(Tried::cost))
                        .orElseThrow();
        byGain.sort(Comparator.comparing(unit -> Math.abs(gains.get(unit))));
        for (int unit : byGain) {
            Optional<Tried> next = tryNext(base, unit, transientBuffers);
            if (next.isPresent() && next.get().cost() < base.cost()) {
                base = next.get();
            }
        }
    }

    private static boolean isOfMode(Candidate candidate, boolean transientBuffers) {
        return candidate.isStock() || candidate.transientBuffers() == transientBuffers;
    }

    /** Tries a set with one unit more or less, if there is time. */
    private Optional<Tried> tryNext(Tried from, int unit, boolean transientBuffers)
            throws InterruptedException {
        Set<Integer> operators = from.candidate().operators();
        Set<Integer> set =
                Sets.filter(
                        units.indices(),
                        each -> operators.containsAll(units.all().get(each).operators()));
        Set<Integer> next = Sets.symmetricDifference(set, Set.of(unit)).immutableCopy();
        double part = goal.asksForMemory() ? PART_FOR_MEMORY : PART_BEFORE_RACE;
        return trials.budget().spent() < part ? tried(next, transientBuffers) : Optional.empty();
    }

    private boolean isTooLarge(Tried next, Tried last) {
        if (next.contender().memoryBytes() <= last.contender().memoryBytes()) {
            return false;
        }
        return goal.objective() == Objective.MEMORY
                ? next.cost() >= last.cost()
                : !goal.admits(next.contender());
    }
}
