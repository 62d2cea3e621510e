package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Consumer;
import org.djlplan.delegation.internal.choice.CostModel;
import org.djlplan.delegation.internal.choice.CostModel.Union;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.partition.Dataflow;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Finds the sets of operators that may be the best. With few runs it measures the time of pieces in
 * the delegate and in the CPU kernels; then it verifies the unions with the best predictions.
 *
 * <ol>
 *   <li>Nothing delegated, and everything delegated. Exploring ends if delegating everything is
 *       clearly better, there is a single partition, and memory does not count.
 *   <li>If the wrong operator is known, everything except that operator. If delegating everything
 *       fails, or is wrong for another reason, each partition alone; if a partition fails, its
 *       pieces alone. Failing parts are left out from then on.
 *   <li>Node times with nothing and with everything delegated give the time of each partition on
 *       both sides.
 *   <li>Partitions are cut if that can matter: all of them if memory counts, otherwise those with a
 *       significant time that are not clearly better in the delegate.
 *   <li>If there are more than a few pieces: the union of every second piece, and the union of the
 *       remaining pieces. These two unions give the cost of neighbours on different sides.
 *   <li>The candidates with the best predictions are verified one after another. After each
 *       candidate with unexpected memory, the predictions are computed again.
 * </ol>
 */
final class Explorer {

    /**
     * If the delegate takes less than this fraction of the CPU time, it gets the whole partition.
     */
    private static final double CLEARLY_BETTER = 0.8;

    /** A time below this fraction of the total does not matter. */
    private static final double NEGLIGIBLE = 0.03;

    /** With fewer pieces, most unions are raced anyway. */
    private static final int FEW = 5;

    /** If more operators than this are wrong, the delegate counts as wrong. */
    private static final int MOST_LEFT_OUT = 8;

    /** Once this fraction of the budget is spent, there is no time to measure neighbours. */
    private static final double PART_OF_BUDGET = 0.25;

    /** Number of raced candidates, besides nothing and everything delegated. */
    private static final int RACED = 5;

    /** Number of candidates tried to find these, because others fail, or take too much memory. */
    private static final int TRIED = 10;

    /** Number of examined predictions, to find simple ones among them. */
    private static final int LOOKED_AT = 50;

    /** Number of candidates tried even if little is left of the budget. */
    private static final int NEEDED = 2;

    /** The rest of the budget is for the race. */
    private static final double PART_BEFORE_RACE = 0.35;

    private final Graph graph;
    private final Trials trials;
    private final Goal goal;
    private final Consumer<Contender> verified;
    private final Set<Integer> constants;
    private List<SortedSet<Integer>> parts;
    private boolean sound;
    private List<Forecast> forecasts = List.of();

    /**
     * @param partitions that may be delegated
     * @param verified receives a verified set that is clearly better than the CPU kernels, before
     *     the best is found
     */
    Explorer(
            Graph graph,
            List<? extends Set<Integer>> partitions,
            Trials trials,
            Goal goal,
            Consumer<Contender> verified) {
        this.graph = graph;
        this.trials = trials;
        this.goal = goal;
        this.verified = verified;
        parts = operators(PieceGraph.of(graph, partitions, 1));
        // Constant operators belong to no piece, so they are added when pieces are made of parts.
        Set<Integer> rest = new HashSet<>();
        partitions.forEach(rest::addAll);
        parts.forEach(rest::removeAll);
        constants = ImmutableSet.copyOf(rest);
    }

    /**
     * Explores with one number of threads.
     *
     * @param transientBuffers whether to explore also sets whose buffers are built for each
     *     prediction
     */
    void explore(int threads, boolean transientBuffers) throws InterruptedException {
        forecasts = forecasts(threads, transientBuffers);
    }

    /**
     * Returns the number of unions that the explored pieces have, with either kind of buffers; 0 if
     * exploring was decisive, or no cost can be predicted. With more than {@link
     * CostModel#ENUMERATED} pieces, only a few unions are predicted.
     */
    double possibleUnions() {
        return forecasts.stream().mapToDouble(f -> Math.pow(2, f.pieces().pieces().size())).sum();
    }

    private List<Forecast> forecasts(int threads, boolean transientBuffers)
            throws InterruptedException {
        Optional<Contender> cpu = trials.prove(Candidate.cpu(threads));
        if (cpu.isEmpty()) {
            return List.of();
        }
        double cpuNanos = nanos(cpu.get());
        trials.budget().inferenceTakes(cpuNanos);
        if (parts.isEmpty()) {
            return List.of();
        }
        Optional<Contender> all = all(threads);
        if (all.isEmpty() || !all.get().candidate().delegates()) {
            return List.of();
        }
        boolean clear = nanos(all.get()) < CLEARLY_BETTER * cpuNanos;
        if (clear && goal.admits(all.get())) {
            verified.accept(all.get());
        }
        if (clear && parts.size() == 1 && !goal.asksForMemory()) {
            return List.of();
        }
        Optional<List<NodeTime>> cpuTimes = trials.profile(cpu.get());
        Optional<List<NodeTime>> allTimes = trials.profile(all.get());
        if (cpuTimes.isEmpty() || allTimes.isEmpty()) {
            return List.of();
        }
        PieceGraph pieces = pieces(parts, 1);
        pieces = cut(model(pieces, cpu.get(), cpuTimes.get(), all.get(), allTimes.get()));
        CostModel model = model(pieces, cpu.get(), cpuTimes.get(), all.get(), allTimes.get());
        boolean many = pieces.pieces().size() >= FEW || pieces.pieces().size() > parts.size();
        if (many && trials.budget().spent() < PART_OF_BUDGET) {
            Set<Integer> even = Sets.filter(pieces.indices(), piece -> piece % 2 == 0);
            for (Set<Integer> union : List.of(even, Sets.difference(pieces.indices(), even))) {
                learn(model, pieces, union, threads);
            }
        }
        List<Forecast> made = new ArrayList<>();
        made.add(new Forecast(pieces, threads, false, model));
        if (transientBuffers) {
            transientForecast(pieces, all.get(), cpu.get(), cpuTimes.get()).ifPresent(made::add);
        }
        return made;
    }

    /** Returns the forecast for buffers that are built for each prediction; empty if they fail. */
    private Optional<Forecast> transientForecast(
            PieceGraph pieces, Contender kept, Contender cpu, List<NodeTime> cpuTimes)
            throws InterruptedException {
        Optional<Contender> all = trials.prove(kept.candidate().withTransientBuffers());
        if (all.isEmpty()) {
            return Optional.empty();
        }
        Optional<List<NodeTime>> allTimes = trials.profile(all.get());
        if (allTimes.isEmpty()) {
            return Optional.empty();
        }
        CostModel model = model(pieces, cpu, cpuTimes, all.get(), allTimes.get());
        return Optional.of(new Forecast(pieces, kept.candidate().threads(), true, model));
    }

    /** Returns the median time of some inferences; the largest possible value if they failed. */
    private double nanos(Contender contender) throws InterruptedException {
        return trials.turn(contender, Profiler.PER_TURN)
                .map(nanos -> Math.max(1, Quantiles.median().compute(nanos)))
                .orElse(Double.MAX_VALUE);
    }

    private void learn(CostModel model, PieceGraph pieces, Set<Integer> union, int threads)
            throws InterruptedException {
        Optional<Contender> proven = trials.prove(new Candidate(pieces.operators(union), threads));
        if (proven.isPresent()) {
            model.learn(union, proven.get().kernels(), proven.get().memoryBytes());
            trials.profile(proven.get()).ifPresent(nodes -> model.learn(union, nodes));
        }
    }

    private static CostModel model(
            PieceGraph pieces,
            Contender cpu,
            List<NodeTime> cpuTimes,
            Contender all,
            List<NodeTime> allTimes) {
        CostModel model = new CostModel(pieces.pieces(), cpuTimes, allTimes, cpu.memoryBytes());
        model.learn(pieces.indices(), all.kernels(), all.memoryBytes());
        return model;
    }

    /** Returns everything delegated, as one contender. */
    private Optional<Contender> all(int threads) throws InterruptedException {
        Optional<Contender> all = trials.prove(union(threads, parts));
        if (all.isEmpty() && !sound) {
            sound = true;
            all = allButWrong(threads);
            if (all.isEmpty()) {
                parts = soundParts(threads);
                all = trials.prove(union(threads, parts));
            }
        }
        return all;
    }

    /** Leaves out one operator after another, as long as the wrong operator is known. */
    private Optional<Contender> allButWrong(int threads) throws InterruptedException {
        Optional<Contender> all = Optional.empty();
        for (int leftOut = 0; all.isEmpty() && leftOut < MOST_LEFT_OUT; leftOut++) {
            OptionalInt wrong = trials.wrongOperator(union(threads, parts));
            if (wrong.isEmpty()) {
                return all;
            }
            List<Set<Integer>> partitions =
                    Dataflow.partitionsWithout(
                            graph, withConstants(parts), Set.of(wrong.getAsInt()));
            parts = operators(PieceGraph.of(graph, partitions, 1));
            all = trials.prove(union(threads, parts));
        }
        return all;
    }

    private List<SortedSet<Integer>> soundParts(int threads) throws InterruptedException {
        List<SortedSet<Integer>> found = new ArrayList<>();
        for (SortedSet<Integer> part : parts) {
            if (parts.size() > 1 && trials.prove(union(threads, List.of(part))).isPresent()) {
                found.add(part);
                continue;
            }
            List<SortedSet<Integer>> pieces =
                    operators(pieces(List.of(part), CostModel.ENUMERATED / 2));
            for (SortedSet<Integer> piece : pieces) {
                if (pieces.size() > 1 && trials.prove(union(threads, List.of(piece))).isPresent()) {
                    found.add(piece);
                }
            }
        }
        return found;
    }

    /** Returns the parts as pieces, cut where that can matter. */
    private PieceGraph cut(CostModel model) {
        if (goal.asksForMemory()) {
            return pieces(parts, CostModel.ENUMERATED);
        }
        double best = 0;
        for (int part = 0; part < parts.size(); part++) {
            best += Math.min(model.cpuNanos(part), model.delegateNanos(part));
        }
        List<SortedSet<Integer>> kept = new ArrayList<>();
        List<SortedSet<Integer>> open = new ArrayList<>();
        for (int part = 0; part < parts.size(); part++) {
            double nanos = model.cpuNanos(part);
            boolean counts = nanos > NEGLIGIBLE * best;
            boolean clear = model.delegateNanos(part) < CLEARLY_BETTER * nanos;
            (counts && !clear ? open : kept).add(parts.get(part));
        }
        if (!open.isEmpty()) {
            kept.addAll(operators(pieces(open, CostModel.ENUMERATED - kept.size())));
        }
        kept.sort(Comparator.comparing(set -> set.first()));
        return pieces(kept, 1);
    }

    /** Returns sets of operators as pieces, cut into up to a number of pieces. */
    private PieceGraph pieces(List<SortedSet<Integer>> sets, int maxPieces) {
        return PieceGraph.of(graph, withConstants(sets), maxPieces);
    }

    private List<Set<Integer>> withConstants(List<SortedSet<Integer>> sets) {
        return ImmutableList.<Set<Integer>>builder().addAll(sets).add(constants).build();
    }

    /** Returns the candidate that delegates some sets of operators. */
    private Candidate union(int threads, List<SortedSet<Integer>> sets) {
        PieceGraph pieces = pieces(sets, 1);
        return new Candidate(pieces.operators(pieces.indices()), threads);
    }

    private static List<SortedSet<Integer>> operators(PieceGraph pieces) {
        return pieces.pieces().stream().map(Piece::operators).toList();
    }

    /**
     * Verifies the candidates with the best predictions. They always include the best one of fewer
     * partitions.
     */
    void verifyBest() throws InterruptedException {
        List<Proposal> hopeful = hopeful();
        int raced = 0;
        for (int i = 0; i < TRIED && raced < RACED; i++) {
            Optional<Proposal> next = next(hopeful, i == 1);
            if (next.isEmpty() || trials.budget().spent() >= (i < NEEDED ? 1 : PART_BEFORE_RACE)) {
                return;
            }
            Optional<Contender> proven = trials.prove(next.get().candidate());
            if (proven.isEmpty()) {
                hopeful = hopeful();
            } else {
                raced += goal.admits(proven.get()) ? 1 : 0;
                if (goal.asksForMemory()) {
                    next.get().learn(proven.get().memoryBytes());
                    hopeful = hopeful();
                }
            }
        }
    }

    private List<Proposal> hopeful() {
        List<Proposal> best = new ArrayList<>();
        for (Forecast forecast : forecasts) {
            best.addAll(forecast.best(LOOKED_AT, goal));
        }
        best.removeIf(proposal -> trials.rejected(proposal.candidate()));
        best.sort(Comparator.comparingDouble(Proposal::cost));
        return best.stream()
                .filter(p -> !goal.isTooFarFromBest(p.cost(), best.get(0).cost()))
                .toList();
    }

    private Optional<Proposal> next(List<Proposal> hopeful, boolean simpler) {
        List<Proposal> untried =
                hopeful.stream().filter(p -> !trials.tried(p.candidate())).toList();
        return untried.stream()
                .filter(p -> simpler && p.union().kernels() < hopeful.get(0).union().kernels())
                .findFirst()
                .or(() -> untried.stream().findFirst());
    }

    /**
     * The predicted costs of unions of a graph's pieces with one number of threads.
     *
     * @param pieces of the graph, at least one
     * @param threads of every candidate
     * @param transientBuffers whether every candidate builds its buffers for each prediction
     * @param model of unions; updated with measurements
     */
    private record Forecast(
            PieceGraph pieces, int threads, boolean transientBuffers, CostModel model) {

        /** Returns the best candidates by a goal, the best first. */
        List<Proposal> best(int count, Goal goal) {
            return model.best(pieces, count, goal).stream()
                    .map(union -> proposal(union, goal))
                    .toList();
        }

        private Proposal proposal(Union union, Goal goal) {
            Candidate kept = new Candidate(pieces.operators(union.pieces()), threads);
            Candidate candidate =
                    transientBuffers && kept.delegates() ? kept.withTransientBuffers() : kept;
            return new Proposal(model, union, candidate, model.cost(union, goal));
        }
    }

    /**
     * A candidate worth trying.
     *
     * @param model that predicts it
     * @param union its pieces
     * @param candidate its operators and threads
     * @param cost predicted cost by the goal
     */
    private record Proposal(CostModel model, Union union, Candidate candidate, double cost) {

        void learn(long measuredBytes) {
            model.learn(union.pieces(), union.kernels(), measuredBytes);
        }
    }
}
