package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A request for a choice: what is measured, what a stored result must match, and how a table
 * becomes a choice.
 *
 * <p>Anyone with write access to a model's folder can write a file with a right checksum, so the
 * choice of a stored result is checked: it must fit the options and the graph.
 *
 * @param graph of the model
 * @param goal of the choice
 * @param threads the numbers of threads to choose from, in ascending order, without duplicates; −1
 *     for the engine's default
 * @param budget time limit of measuring; empty for {@link #BASE} plus the time of {@value
 *     #INFERENCES} inferences in the CPU kernels. A running step may exceed it; so may the trials
 *     of the CPU kernels and of everything delegated, and three turns for the candidates that may
 *     be the best
 * @param tolerance for the outputs
 * @param transientBuffers whether the delegate can build its buffers for each prediction;
 *     candidates with such buffers are tried only if the goal asks for memory
 * @param excluded operators that the delegate is not offered
 * @param recipes to measure besides stock, the simplest first; empty to search sets of operators
 */
public record Request(
        Graph graph,
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance,
        boolean transientBuffers,
        Set<Integer> excluded,
        List<String> recipes) {

    /** Time limit independent of the model's speed. */
    public static final Duration BASE = Duration.ofSeconds(7);

    /** Number of CPU kernel inferences whose time is added to the limit. */
    public static final int INFERENCES = 40;

    /** Assumed for a time limit that depends on the model. */
    private static final Duration LONG = Duration.ofSeconds(30);

    public Request {
        threads = ImmutableList.copyOf(ImmutableSet.copyOf(threads));
        excluded = ImmutableSortedSet.copyOf(excluded);
        recipes = ImmutableList.copyOf(recipes);
        checkArgument(!threads.isEmpty(), "no setting of threads");
        checkArgument(threads.stream().allMatch(t -> t == -1 || t > 0), "threads: %s", threads);
        checkArgument(budget.isEmpty() || budget.get().toNanos() > 0, "budget: %s", budget);
    }

    /** Creates a request that excludes nothing, for a delegate that always keeps its buffers. */
    public Request(
            Graph graph,
            Goal goal,
            List<Integer> threads,
            Optional<Duration> budget,
            Tolerance tolerance) {
        this(graph, goal, threads, budget, tolerance, false, ImmutableSet.of(), ImmutableList.of());
    }

    /** Returns the partitions that a delegate would report without the excluded operators. */
    public List<Set<Integer>> withoutExcluded(List<Set<Integer>> reported) {
        return Dataflow.partitionsWithout(graph, reported, excluded);
    }

    /** Returns this request for stock and the recipe of a lower precision only. */
    public Request only(Precision precision) {
        return new Request(
                graph,
                goal,
                threads,
                budget,
                tolerance.with(precision),
                transientBuffers,
                excluded,
                List.of(precision.name()));
    }

    /** Returns whether candidates that build their buffers for each prediction are tried. */
    public boolean triesTransientBuffers() {
        return transientBuffers && goal.asksForMemory();
    }

    /** Returns an upper estimate of the duration of measuring. */
    public Duration longest() {
        return budget.orElse(LONG);
    }

    /** Returns what serves if nothing is chosen, for people. */
    public String stock() {
        return recipes.isEmpty() ? "the CPU kernels" : "stock";
    }

    /** Returns stock, used as long as nothing was measured. */
    public Candidate unmeasured() {
        return Candidate.cpu(threads.size() == 1 ? threads.get(0) : -1);
    }

    /** Returns {@link #unmeasured} as a choice. */
    public DelegationChoice cpu(String why) {
        return new DelegationChoice(
                unmeasured(),
                DelegationReport.Origin.UNVERIFIED,
                (recipes.isEmpty() ? "CPU kernels: " : "stock: ") + why);
    }

    /** Returns the choice of a table. */
    public DelegationChoice choice(ProfileTable table, DelegationReport.Origin origin) {
        String caveat = table.caveat().map(" (%s)"::formatted).orElse("");
        return new DelegationChoice(
                table.chosen(),
                table.lighter(),
                origin,
                table.reason() + caveat,
                table.measured(table.chosen()).map(this::agreements).orElse(List.of()));
    }

    /**
     * Returns the choice of a table for a pinned job: its candidate with the fewest threads, which
     * is never slow beside other work.
     */
    public DelegationChoice pinned(ProfileTable table) {
        DelegationChoice all = choice(table, DelegationReport.Origin.STORED);
        Candidate one = all.lightest();
        return new DelegationChoice(
                one,
                List.of(),
                all.origin(),
                all.reason() + "; pinned",
                table.measured(one).map(this::agreements).orElse(List.of()));
    }

    /** Returns the choice of a verified and clearly better set, before the best is found. */
    public DelegationChoice verified(Entry.Measured entry) {
        return new DelegationChoice(
                entry.candidate(),
                List.of(),
                DelegationReport.Origin.VERIFIED,
                "everything that the delegate supports, while other sets are measured",
                agreements(entry));
    }

    private List<OutputAgreement> agreements(Entry.Measured entry) {
        if (entry.candidate().isStock()) {
            return List.of();
        }
        List<OutputAgreement> agreements = new ArrayList<>();
        for (int i = 0; i < entry.errors().size(); i++) {
            OutputError error = entry.errors().get(i);
            agreements.add(
                    OutputAgreement.of(
                            i < graph.outputs().size()
                                    ? graph.tensors().get(graph.outputs().get(i)).name()
                                    : "output " + i,
                            error.difference(),
                            error.noise().largest(),
                            tolerance.of(entry.candidate()).limit(error)));
        }
        return List.copyOf(agreements);
    }

    /**
     * Checks that the choice of a table can serve this request.
     *
     * @throws IOException if not; the message says why
     */
    public void check(ProfileTable table) throws IOException {
        Set<Integer> offered = new HashSet<>();
        table.partitions().forEach(offered::addAll);
        check(table.chosen(), offered);
        for (Candidate candidate : table.lighter()) {
            check(candidate, offered);
        }
    }

    private void check(Candidate candidate, Set<Integer> offered) throws IOException {
        SortedSet<Integer> operators = candidate.operators();
        boolean engines = candidate.isStock() && candidate.threads() == -1;
        if (!threads.contains(candidate.threads()) && !engines) {
            throw new IOException(
                    "a set with " + candidate.threads() + " threads, where " + threads + " may be");
        }
        if (!candidate.recipe().isEmpty() && !recipes.contains(candidate.recipe())) {
            throw new IOException("an unknown recipe");
        }
        if (candidate.transientBuffers() && !transientBuffers) {
            throw new IOException("a set with buffers that the delegate does not offer");
        }
        if (!offered.containsAll(operators)
                || (!operators.isEmpty() && operators.last() >= graph.operators().size())) {
            throw new IOException("a set of operators that the delegate did not offer");
        }
        if (operators.stream().anyMatch(excluded::contains)) {
            throw new IOException("an operator that is excluded");
        }
        // A set is wrong if the delegate unpacks a constant for only some of its readers.
        if (Dataflow.splitsConstants(graph, operators)) {
            throw new IOException("a constant that is unpacked for some of its readers");
        }
    }

    /**
     * The goal of a choice. It orders measured candidates, and decides which are too large.
     *
     * @param objective the figure to minimize
     * @param maxMemoryBytes limit of a candidate's memory; empty for no limit
     */
    public record Goal(Objective objective, OptionalLong maxMemoryBytes) {

        /**
         * Possible difference between two measurements of the same memory: a fraction, or some
         * pages.
         */
        private static final double MEMORY_NOISE = 0.02;

        private static final long MEMORY_NOISE_BYTES = 256 << 10;

        /** An additional delegate kernel must save this fraction of the cost. */
        private static final double PER_KERNEL = 0.005;

        /**
         * Factor for candidates over the limit, so that the least memory wins if none is below the
         * limit.
         */
        private static final double OVER_LIMIT = 1e30;

        /** The figure that a choice minimizes. */
        public enum Objective {
            /** The median latency of a prediction. */
            LATENCY,
            /** The memory that a model takes; on a tie, the faster candidate. */
            MEMORY,
            /** The product of latency and memory, so that one percent of either weighs the same. */
            BALANCED
        }

        public Goal {
            checkArgument(
                    maxMemoryBytes.isEmpty() || maxMemoryBytes.getAsLong() > 0,
                    "maxMemoryBytes: %s",
                    maxMemoryBytes);
        }

        /** Returns whether the goal involves memory. */
        public boolean asksForMemory() {
            return objective != Objective.LATENCY || maxMemoryBytes.isPresent();
        }

        /** Returns the cost of a candidate; smaller is better. */
        public double cost(double nanos, double bytes, int kernels) {
            if (bytes > limit()) {
                return OVER_LIMIT * bytes;
            }
            double slow = nanos * (1 + PER_KERNEL * kernels);
            return switch (objective) {
                case LATENCY -> slow;
                case BALANCED -> slow * Math.max(1, bytes);
                // A difference of memory beyond the noise counts more than any latency.
                case MEMORY -> Math.floor(Math.log1p(bytes) / MEMORY_NOISE) + slow / (slow + 1e9);
            };
        }

        /** Returns the cost of a measured candidate. */
        public double cost(Entry.Measured measured) {
            return cost(
                    (double) measured.latency().medianNanos(),
                    (double) measured.memoryBytes(),
                    measured.kernels());
        }

        /** Returns the factor of a measured contender's nanoseconds. */
        public double weight(Contender contender) {
            return objective == Objective.BALANCED ? Math.max(1, contender.memoryBytes()) : 1;
        }

        /** Returns whether a contender is within the limit. */
        public boolean admits(Contender contender) {
            return contender.memoryBytes() <= limit();
        }

        /**
         * Returns the contenders to compare by latency: all within the limit or, if memory counts,
         * only those of them that take hardly more than the least memory.
         */
        public List<Contender> eligible(List<Contender> contenders) {
            List<Contender> admitted = contenders.stream().filter(this::admits).toList();
            return objective == Objective.MEMORY ? lightest(admitted) : admitted;
        }

        /** Returns the contenders that take hardly more than the least memory among them. */
        public static List<Contender> lightest(List<Contender> contenders) {
            long least = contenders.stream().mapToLong(Contender::memoryBytes).min().orElse(0);
            double most = Math.max(least * (1 + MEMORY_NOISE), (double) least + MEMORY_NOISE_BYTES);
            return contenders.stream().filter(c -> c.memoryBytes() <= most).toList();
        }

        private long limit() {
            return maxMemoryBytes.orElse(Long.MAX_VALUE);
        }
    }
}
