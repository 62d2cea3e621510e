package org.djlplan.delegation.internal.profile;

import ai.djl.util.Progress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.ProfileTable.Reason;
import org.djlplan.delegation.internal.choice.Race;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.profile.Trials.TimeBudget;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds with few runs which operators of a model to delegate, or which of its recipes to take.
 *
 * <ol>
 *   <li>Search: sets of partitions are verified and timed in a few runs ({@link SetSearch}).
 *   <li>Race: the best of them, nothing delegated, and everything delegated are timed in turns,
 *       until one is left or no difference can be found ({@link Race}). The simplest of the
 *       remaining ones wins.
 *   <li>More threads: the best few sets for the smallest number of threads race again, once for
 *       every further number of threads. Finally the winners for all numbers of threads race.
 * </ol>
 *
 * <p>The recipes of a model are all measured ({@link RecipeRace}).
 */
public final class Profiler {

    private static final Logger logger = LoggerFactory.getLogger(Profiler.class);

    /** Less than a tenth of the effort of measuring each union of partitions a hundred times. */
    private static final double INFERENCES_PER_UNION = 9;

    /** Minimum limit of inferences: for three partitions, an eighth of that effort. */
    private static final double FEWEST_INFERENCES = 100;

    /** Number of sets that are tried with each further number of threads. */
    private static final int SETS_TRIED_AGAIN = 4;

    /**
     * If the quartiles of the choice differ by this fraction of the median, the machine was not
     * quiet.
     */
    private static final double RESTLESS = .3;

    /** With fewer samples, quartiles are not reliable. */
    private static final int ENOUGH_SAMPLES = 9;

    /** A difference that is not found in this many rounds does not matter. */
    private static final int MOST_ROUNDS = 40;

    /** Minimum number of inferences per turn; fast candidates run more. */
    static final int PER_TURN = 3;

    /**
     * After this many rounds turns get longer by one inference per round, because the remaining
     * contenders are hard to distinguish.
     */
    private static final int ROUNDS_BEFORE_LONGER = 10;

    /** Minimum number of rounds, even if time is up; each has one inference then. */
    private static final int LEAST_ROUNDS = 3;

    /** A contender that took this many times as long as another one should not have won. */
    private static final double CONTRADICTED = 1.1;

    /** When time is up, contenders that seem this many times as slow as the leader are dropped. */
    private static final double GIVEN_UP = 1.25;

    /** The caveat of a table for which no process answered: another time, one may. */
    private static final String NO_PROCESS_ANSWERED =
            "no process answered, perhaps for another reason than the candidates";

    private final Request request;
    private final CandidateRunner runner;
    private final TimeBudget budget;
    private final Goal goal;
    private final Trials trials;
    private final Consumer<Entry.Measured> verified;
    private Optional<SetSearch> search = Optional.empty();

    private Profiler(
            Request request,
            CandidateRunner runner,
            TimeBudget budget,
            Consumer<Entry.Measured> verified) {
        this.request = request;
        this.runner = runner;
        this.budget = budget;
        this.verified = verified;
        this.goal = request.goal();
        this.trials = new Trials(runner, request.tolerance(), budget);
    }

    /**
     * Measures and chooses. Failures are entries of the table; if nothing can be measured, the CPU
     * kernels are chosen.
     *
     * @param request for the choice
     * @param runner of the model's candidates; not closed
     * @param progress receives the spent percentage of the budget
     * @param verified receives a verified set that is clearly faster than the CPU kernels, before
     *     the best is found
     * @throws InterruptedException if the thread is interrupted
     */
    public static ProfileTable profile(
            Request request,
            CandidateRunner runner,
            Optional<Progress> progress,
            Consumer<Entry.Measured> verified)
            throws InterruptedException {
        return profile(request, runner, progress, verified, runner::workedNanos);
    }

    static ProfileTable profile(
            Request request,
            CandidateRunner runner,
            Optional<Progress> progress,
            Consumer<Entry.Measured> verified,
            LongSupplier clock)
            throws InterruptedException {
        TimeBudget budget = new TimeBudget(clock, request.budget(), progress);
        budget.begin("Profiling " + request.graph().name());
        try {
            return new Profiler(request, runner, budget, verified).table();
        } finally {
            budget.end();
        }
    }

    private ProfileTable table() throws InterruptedException {
        if (!request.recipes().isEmpty()) {
            return recipes();
        }
        List<SortedSet<Integer>> partitions;
        try {
            partitions =
                    request.withoutExcluded(runner.partitions()).stream()
                            .<SortedSet<Integer>>map(ImmutableSortedSet::copyOf)
                            .collect(ImmutableList.toImmutableList());
        } catch (CandidateException e) {
            logger.warn(
                    "{}: the delegate cannot be asked: {}", request.graph().name(), e.getMessage());
            ProfileTable table =
                    cpu(
                            List.of(),
                            "the CPU kernels: the delegate cannot be asked: " + e.getMessage());
            return e.kind() == Kind.REFUSED ? table : table.with(Optional.of(NO_PROCESS_ANSWERED));
        }
        if (partitions.isEmpty() && request.threads().size() == 1) {
            return cpu(
                    partitions, "the CPU kernels: the delegate supports no operator of the model");
        }
        List<Contender> winners = new ArrayList<>();
        for (int threads : request.threads()) {
            List<Contender> contenders = contenders(partitions, threads);
            if (!memoryIsKnown(contenders)) {
                return cpu(partitions, "the CPU kernels: memory cannot be measured here");
            }
            best(threads, contenders).ifPresent(winners::add);
        }
        return choose(partitions, winners);
    }

    private ProfileTable recipes() throws InterruptedException {
        RecipeRace race = new RecipeRace(request, trials);
        List<Contender> contenders = race.contenders();
        if (!memoryIsKnown(contenders)) {
            return cpu(List.of(), "stock: memory cannot be measured here");
        }
        Optional<Contender> winner =
                contenders.isEmpty() ? Optional.empty() : race.winner(contenders);
        return choose(List.of(), winner.stream().toList());
    }

    private boolean memoryIsKnown(List<Contender> contenders) {
        return goal.maxMemoryBytes().isEmpty()
                || contenders.isEmpty()
                || contenders.stream().anyMatch(c -> c.memoryBytes() > 0);
    }

    private List<Contender> contenders(List<SortedSet<Integer>> partitions, int threads)
            throws InterruptedException {
        if (threads != request.threads().get(0)) {
            return tried(threads);
        }
        SetSearch first =
                new SetSearch(request.graph(), partitions, threads, trials, goal, this::verified);
        search = Optional.of(first);
        first.search(request.triesTransientBuffers());
        double inferences = INFERENCES_PER_UNION * Math.pow(2, first.size());
        budget.allow(request.threads().size() * Math.max(FEWEST_INFERENCES, inferences));
        return first.best();
    }

    private void verified(Contender contender) {
        if (!goal.asksForMemory()) {
            trials.measured(contender.candidate()).ifPresent(verified);
        }
    }

    /** Returns the best sets of the smallest number of threads, with more threads. */
    private List<Contender> tried(int threads) throws InterruptedException {
        List<Entry.Measured> before =
                trials.entries().stream()
                        .filter(Entry.Measured.class::isInstance)
                        .map(Entry.Measured.class::cast)
                        .filter(e -> e.candidate().threads() == request.threads().get(0))
                        .sorted(Comparator.comparingDouble(goal::cost))
                        .toList();
        List<Contender> contenders = new ArrayList<>();
        for (Entry.Measured entry : before) {
            if (contenders.size() < SETS_TRIED_AGAIN && mayWin(entry, before.get(0), threads)) {
                trials.prove(entry.candidate().withThreads(threads)).ifPresent(contenders::add);
            }
        }
        return contenders;
    }

    /** Twice the threads make nothing more than twice as fast. */
    private boolean mayWin(Entry.Measured entry, Entry.Measured best, int threads) {
        double times = (double) threads / entry.candidate().threads();
        return goal.asksForMemory()
                || entry.latency().medianNanos() <= times * best.latency().medianNanos();
    }

    private Optional<Contender> best(int threads, List<Contender> contenders)
            throws InterruptedException {
        List<Integer> all = request.threads();
        // The rest of the time is for the race between different numbers of threads.
        double part = all.size() == 1 ? 1 : (all.indexOf(threads) + 1.0) / (all.size() + 1);
        Optional<Contender> winner = race(contenders, part);
        boolean first = threads == all.get(0);
        while (first && search.isPresent() && trials.failedWhenTimed() && budget.spent() < part) {
            // The failed candidate may have been the reason why others did not race.
            winner = race(search.get().best(), part);
        }
        return winner;
    }

    /**
     * Races contenders. If others were faster than the winner in a quarter of their runs, they race
     * it once more, because noise may have decided.
     *
     * @return the winner; empty if none is eligible
     */
    private Optional<Contender> race(List<Contender> contenders, double part)
            throws InterruptedException {
        Optional<Contender> winner = raceOnce(contenders, part);
        List<Contender> again = new ArrayList<>();
        for (Contender each : winner.isPresent() ? contenders : List.<Contender>of()) {
            if (each.equals(winner.get()) || isFaster(each, winner.get())) {
                trials.prove(each.candidate()).ifPresent(again::add);
            }
        }
        return again.size() > 1 ? raceOnce(again, part) : winner;
    }

    /** Returns whether the goal clearly prefers a contender by the lower quartiles of the times. */
    private boolean isFaster(Contender contender, Contender than) {
        Optional<Double> cost = lowCost(contender);
        Optional<Double> other = lowCost(than);
        return cost.isPresent() && other.isPresent() && cost.get() * CONTRADICTED < other.get();
    }

    private Optional<Double> lowCost(Contender contender) {
        return trials.measured(contender.candidate())
                .map(
                        entry ->
                                goal.cost(
                                        (double) entry.latency().lowNanos(),
                                        (double) entry.memoryBytes(),
                                        entry.kernels()));
    }

    /**
     * Races contenders until one is left, or a fraction of the time is spent. Each has at least one
     * turn; contenders that are not eligible have only that one, which is enough for the table.
     *
     * @return the winner; empty if none is eligible
     */
    private Optional<Contender> raceOnce(List<Contender> contenders, double part)
            throws InterruptedException {
        Race race = new Race(contenders, goal::weight);
        round(race, part);
        List<Contender> eligible = goal.eligible(race.running());
        contenders.stream().filter(c -> !eligible.contains(c)).forEach(race::withdraw);
        endRound(race, part);
        contenders.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        while (race.rounds() < MOST_ROUNDS && !race.settled() && round(race, part)) {
            List<Contender> before = race.running();
            endRound(race, part);
            before.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        }
        return race.winner();
    }

    private void endRound(Race race, double part) {
        race.endRound();
        if (budget.spent() >= part) {
            race.hurry(GIVEN_UP);
        }
    }

    /** Returns whether all had their turns before time was up; true in the first rounds. */
    private boolean round(Race race, double part) throws InterruptedException {
        boolean needed = race.rounds() < LEAST_ROUNDS;
        for (Contender contender : race.running()) {
            boolean late = budget.spent() >= part;
            if (!needed && late) {
                return false;
            }
            int least =
                    late && race.rounds() > 0 ? 1 : PER_TURN + race.rounds() / ROUNDS_BEFORE_LONGER;
            Optional<long[]> turn = trials.turn(contender, least);
            if (turn.isPresent()) {
                race.turn(contender, turn.get());
            } else {
                race.withdraw(contender);
            }
        }
        return true;
    }

    private ProfileTable choose(List<SortedSet<Integer>> partitions, List<Contender> winners)
            throws InterruptedException {
        Optional<Contender> winner = best(winners);
        List<Entry> entries = trials.entries();
        Reason reason = new Reason(request, partitions);
        Optional<Entry.Measured> chosen = winner.flatMap(w -> trials.measured(w.candidate()));
        if (chosen.isPresent()) {
            Candidate candidate = chosen.get().candidate();
            List<Candidate> lighter =
                    winners.stream()
                            .map(Contender::candidate)
                            .filter(c -> c.threads() < candidate.threads())
                            .filter(c -> trials.measured(c).isPresent())
                            .sorted(Comparator.comparing(Candidate::threads).reversed())
                            .toList();
            return new ProfileTable(
                    partitions,
                    entries,
                    candidate,
                    lighter,
                    reason.of(chosen.get(), entries),
                    runner.caveat()
                            .or(() -> restless(chosen.get()))
                            .or(() -> contradicted(winners, winner.get())),
                    budget.inferences(),
                    budget.elapsedNanos());
        }
        boolean ran = entries.stream().anyMatch(Entry.Measured.class::isInstance);
        ProfileTable table =
                cpu(
                        partitions,
                        ran && trials.proven().stream().noneMatch(goal::admits)
                                ? request.stock() + ": no candidate is within the memory limit"
                                : request.stock()
                                        + ": nothing could be measured"
                                        + reason.rejected(entries));
        boolean failed =
                entries.stream()
                        .anyMatch(e -> e instanceof Entry.Failed f && f.kind() != Kind.REFUSED);
        return !ran && failed ? table.with(Optional.of(NO_PROCESS_ANSWERED)) : table;
    }

    private Optional<Contender> best(List<Contender> winners) throws InterruptedException {
        if (winners.size() <= 1) {
            return winners.stream().findFirst();
        }
        for (Contender contender : winners) {
            trials.prove(contender.candidate());
        }
        return race(winners, 1);
    }

    private static Optional<String> restless(Entry.Measured chosen) {
        double apart =
                (double) (chosen.latency().highNanos() - chosen.latency().lowNanos())
                        / Math.max(1, chosen.latency().medianNanos());
        return chosen.latency().samples() >= ENOUGH_SAMPLES && apart > RESTLESS
                ? Optional.of(
                        "measured beside other work: half of the times of one set are %.0f %% apart"
                                .formatted(100 * apart))
                : Optional.empty();
    }

    /**
     * Returns a caveat if another set was faster than the chosen one, or than the winner of as many
     * threads. Recipes are passed over for other reasons, too.
     */
    private Optional<String> contradicted(List<Contender> winners, Contender chosen) {
        boolean slower =
                request.recipes().isEmpty()
                        && trials.proven().stream()
                                .filter(goal::admits)
                                .anyMatch(each -> beats(each, winners, chosen));
        return slower
                ? Optional.of("measured beside other work: another set was faster at times")
                : Optional.empty();
    }

    private boolean beats(Contender contender, List<Contender> winners, Contender chosen) {
        return winners.stream()
                .filter(each -> each.equals(chosen) || threads(each) == threads(contender))
                .anyMatch(each -> isFaster(contender, each));
    }

    private static int threads(Contender contender) {
        return contender.candidate().threads();
    }

    private ProfileTable cpu(List<SortedSet<Integer>> partitions, String reason) {
        return new ProfileTable(
                partitions,
                trials.entries(),
                request.unmeasured(),
                reason,
                budget.inferences(),
                budget.elapsedNanos());
    }
}
