package org.djlplan.cli.tune;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.IntStream;
import org.djlplan.cli.tune.Study.PartitionCost;
import org.djlplan.cli.tune.Study.SetTime;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.partition.Units;
import org.djlplan.delegation.internal.profile.Profiler;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.study.delegation.FirstN;
import org.djlplan.study.delegation.Piece;
import org.djlplan.thirdparty.guava.collect.Collections2;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * Measures a study: first a usual profiling run, then each partition in the delegate and in the CPU
 * kernels, then the sets. The fastest sets are measured again, all in turns, because otherwise sets
 * that were fast by chance would win.
 */
final class StudyRun {

    private static final int PROFILED = 5;
    private static final int FINALISTS = 12;

    private final Graph graph;
    private final CandidateRunner runner;
    private final Settings settings;
    private final ImmutableList<ImmutableSortedSet<Integer>> partitions;
    private final Units units;

    private StudyRun(
            Graph graph,
            CandidateRunner runner,
            Settings settings,
            ImmutableList<ImmutableSortedSet<Integer>> partitions) {
        this.graph = graph;
        this.runner = runner;
        this.settings = settings;
        this.partitions = partitions;
        this.units = Units.of(graph, partitions);
    }

    /**
     * Runs a study.
     *
     * @param runner of the model's candidates; not closed
     * @throws CandidateException if the delegate cannot report partitions, or the CPU kernels do
     *     not run
     */
    static Study study(
            Graph graph, CandidateRunner runner, Settings settings, Optional<Progress> progress)
            throws CandidateException, InterruptedException {
        ImmutableList<ImmutableSortedSet<Integer>> partitions =
                runner.partitions().stream()
                        .map(ImmutableSortedSet::copyOf)
                        .collect(ImmutableList.toImmutableList());
        return new StudyRun(graph, runner, settings, partitions).study(progress);
    }

    private Study study(Optional<Progress> progress)
            throws CandidateException, InterruptedException {
        ProfileTable usual = usual(progress);
        List<ImmutableSet<Integer>> sets = MeasuredSets.of(partitions, units);
        List<ImmutableSet<Integer>> rule = MeasuredSets.firstN(partitions, units);
        List<PartitionCost> costs = costs();
        long start = System.nanoTime();
        StudyTimes times = new StudyTimes(runner, settings.tolerance(), settings.rounds());
        Set<Candidate> candidates = candidates(sets, rule, usual);
        time(times, candidates, progress, start);
        return new Study(
                graph.name(),
                graph.operators().size(),
                partitions.size(),
                settings.threads(),
                costs,
                candidates.size(),
                setTimes(times),
                rule.stream()
                        .map(set -> ImmutableSet.copyOf(Collections2.transform(set, this::number)))
                        .toList(),
                usual,
                times.inferences(),
                System.nanoTime() - start);
    }

    private ProfileTable usual(Optional<Progress> progress) throws InterruptedException {
        return Profiler.profile(
                new Request(
                        graph,
                        new Goal(Objective.LATENCY, OptionalLong.empty()),
                        List.of(settings.threads()),
                        Optional.of(settings.usualBudget()),
                        settings.tolerance()),
                runner,
                progress,
                early -> {});
    }

    /** Candidates that others are compared with come first, in case the time limit ends the run. */
    private Set<Candidate> candidates(
            List<ImmutableSet<Integer>> sets,
            List<ImmutableSet<Integer>> rule,
            ProfileTable usual) {
        Set<Candidate> candidates = new LinkedHashSet<>();
        candidates.add(Candidate.cpu(settings.threads()));
        candidates.add(usual.chosen());
        rule.forEach(set -> candidates.add(candidate(set)));
        sets.forEach(set -> candidates.add(candidate(set)));
        return candidates;
    }

    private Candidate candidate(Set<Integer> set) {
        return new Candidate(units.operators(set), settings.threads());
    }

    private void time(
            StudyTimes times,
            Set<Candidate> candidates,
            Optional<Progress> progress,
            long startNanos)
            throws InterruptedException {
        String message = "Measuring %d sets of %s".formatted(candidates.size(), graph.name());
        progress.ifPresent(p -> p.reset(message, candidates.size()));
        progress.ifPresent(p -> p.start(0));
        try {
            times.time(
                    candidates,
                    () -> System.nanoTime() - startNanos < settings.budget().toNanos(),
                    () -> progress.ifPresent(p -> p.increment(1)));
            Set<Candidate> finalists = new LinkedHashSet<>(candidates.stream().limit(2).toList());
            ProfileText.sorted(ImmutableList.copyOf(times.entries().values())).stream()
                    .filter(Entry.Measured.class::isInstance)
                    .limit(FINALISTS)
                    .forEach(entry -> finalists.add(entry.candidate()));
            if (times.entries().size() > finalists.size()) {
                times.time(finalists, () -> true, () -> {});
            }
        } finally {
            progress.ifPresent(Progress::end);
        }
    }

    private List<SetTime> setTimes(StudyTimes times) {
        SetNames names = SetNames.of(graph, partitions);
        List<SetTime> found = new ArrayList<>();
        times.entries()
                .forEach(
                        (candidate, entry) -> {
                            Set<Integer> touched = ImmutableSet.copyOf(names.touched(candidate));
                            boolean whole = candidate(places(touched)).equals(candidate);
                            found.add(new SetTime(touched, whole, names.name(candidate), entry));
                        });
        found.sort(Comparator.comparingInt(set -> set.partitions().size()));
        return found;
    }

    private Set<Integer> places(Set<Integer> numbers) {
        return IntStream.range(0, units.all().size())
                .filter(place -> numbers.contains(number(place)))
                .boxed()
                .collect(ImmutableSet.toImmutableSet());
    }

    /** Returns the number, counted from 1, of the partition at an index. */
    private int number(int place) {
        return units.all().get(place).partition() + 1;
    }

    private List<PartitionCost> costs() throws CandidateException, InterruptedException {
        Candidate cpu = Candidate.cpu(settings.threads());
        List<NodeTime> cpuTimes = profile(cpu);
        List<PartitionCost> costs = new ArrayList<>();
        List<Piece> pieces = Piece.of(graph, units);
        for (int i = 0; i < pieces.size(); i++) {
            Piece unit = pieces.get(i);
            Optional<Long> delegate = delegateNanos(candidate(Set.of(i)), unit.operators());
            if (delegate.isPresent()) {
                costs.add(
                        new PartitionCost(unit, nanos(cpuTimes, unit.operators()), delegate.get()));
            }
        }
        return costs;
    }

    /**
     * Measures one partition alone, so that a failing one does not affect others; empty if it does
     * not run.
     */
    private Optional<Long> delegateNanos(Candidate alone, SortedSet<Integer> operators)
            throws InterruptedException {
        try {
            return Optional.of(nanos(profile(alone), operators));
        } catch (CandidateException e) {
            return Optional.empty();
        } finally {
            runner.release(alone);
        }
    }

    private List<NodeTime> profile(Candidate candidate)
            throws CandidateException, InterruptedException {
        Trial unused = runner.prepare(candidate);
        return runner.profile(candidate, PROFILED);
    }

    private static long nanos(List<NodeTime> times, Set<Integer> operators) {
        return times.stream()
                .filter(node -> !Collections.disjoint(node.operators(), operators))
                .mapToLong(NodeTime::nanos)
                .sum();
    }

    /**
     * The sets of partitions that a study measures. Partitions are given by the indices of their
     * units.
     */
    static final class MeasuredSets {

        /** Up to this number of partitions all unions are measured (1024). */
        static final int ALL_UNIONS = 10;

        private MeasuredSets() {}

        /**
         * Returns the sets, the smaller ones first: every union for few partitions; for more, the
         * empty set, all, each partition alone, all but each partition, and TensorFlow Lite's first
         * N for every N.
         *
         * @param partitions as reported by the delegate
         * @param units one per partition in which any operator runs
         */
        static ImmutableList<ImmutableSet<Integer>> of(
                List<? extends Set<Integer>> partitions, Units units) {
            ContiguousSet<Integer> all = ContiguousSet.closedOpen(0, units.all().size());
            Set<Set<Integer>> sets = new LinkedHashSet<>();
            if (all.size() <= ALL_UNIONS) {
                sets.addAll(Sets.powerSet(all));
            } else {
                sets.add(Set.of());
                sets.add(all);
                for (int unit : all) {
                    sets.add(Set.of(unit));
                    sets.add(Sets.difference(all, Set.of(unit)).immutableCopy());
                }
                firstN(partitions, units).forEach(sets::add);
            }
            return sets.stream()
                    .map(ImmutableSet::copyOf)
                    .distinct()
                    .sorted(Comparator.comparingInt(Set::size))
                    .collect(ImmutableList.toImmutableList());
        }

        /**
         * Returns the sets that TensorFlow Lite's rule delegates for a limit of 1, 2, … partitions.
         */
        static ImmutableList<ImmutableSet<Integer>> firstN(
                List<? extends Set<Integer>> partitions, Units units) {
            ImmutableList.Builder<ImmutableSet<Integer>> choices = ImmutableList.builder();
            for (int count = 1; count <= partitions.size(); count++) {
                Set<Integer> operators = FirstN.operators(partitions, count);
                ImmutableSet.Builder<Integer> choice = ImmutableSet.builder();
                for (int unit = 0; unit < units.all().size(); unit++) {
                    if (operators.containsAll(units.all().get(unit).operators())) {
                        choice.add(unit);
                    }
                }
                choices.add(choice.build());
            }
            return choices.build();
        }
    }

    /**
     * Settings of a study.
     *
     * @param threads per prediction, −1 for the engine's default
     * @param budget time after which no more sets are started
     * @param rounds number of turns per set
     * @param usualBudget time limit of the usual run that the sets are compared with
     * @param tolerance for the outputs
     */
    record Settings(
            int threads, Duration budget, int rounds, Duration usualBudget, Tolerance tolerance) {

        Settings {
            checkArgument(rounds > 0, "rounds: %s", rounds);
        }
    }
}
