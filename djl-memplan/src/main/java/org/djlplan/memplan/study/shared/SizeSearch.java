package org.djlplan.memplan.study.shared;

import com.google.common.collect.ImmutableMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.memplan.study.shared.Fitting.Outcome;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.PositionalMaxima;

/** One search of {@link OptimalObjects}: tries sizes and learns from those that do not do. */
final class SizeSearch {

    /** Units in the shortest stretch that is tried on its own. */
    private static final int SHORTEST = 16;

    /** What is spent on a stretch at first, for each of its units. */
    private static final long NODES_PER_TURN = 20;

    private final PlanningProblem problem;
    private final SharedObjectsPlan known;
    private final NodeBudget budget;
    private final Sweep sweep;
    private final SizeChoices choices;

    /** Latest first: where units did not fit they often do not again. */
    private final List<Conflict> conflicts = new ArrayList<>();

    /**
     * @param problem with one unit at least
     * @param known a plan; only smaller ones are looked for
     */
    SizeSearch(PlanningProblem problem, SharedObjectsPlan known, NodeBudget budget) {
        this.problem = problem;
        this.known = known;
        this.budget = budget;
        sweep = Sweep.of(problem.units());
        int[] least = sweep.ranksOf(PositionalMaxima.of(problem.units()));
        choices = new SizeChoices(sweep, least, known.totalBytes());
    }

    SharedSearchResult run() {
        Optional<int[]> sizes = choices.smallest(conflicts, budget);
        while (sizes.isPresent()) {
            long before = budget.left();
            Fitting fitting = fit(sizes.get());
            switch (fitting.outcome()) {
                case FITS -> {
                    SharedObjectsPlan optimum = plan(fitting.objects());
                    return new SharedSearchResult(optimum, optimum.totalBytes());
                }
                case GAVE_UP -> {
                    return new SharedSearchResult(known, choices.lowerBoundBytes());
                }
                case DOES_NOT_FIT ->
                        conflicts.add(
                                0,
                                Conflict.of(
                                        sweep,
                                        fitting,
                                        sizes.get(),
                                        before - budget.left(),
                                        budget));
            }
            sizes = choices.smallest(conflicts, budget);
        }
        return new SharedSearchResult(known, choices.lowerBoundBytes());
    }

    /**
     * Tries what may settle it soonest: where units did not fit before, all of them, and ever
     * longer stretches on their own, which may not fit though the search for all is lost before it
     * gets there.
     */
    private Fitting fit(int[] sizes) {
        for (Conflict conflict : conflicts) {
            Fitting stretch = new Fitting(sweep, conflict.from(), conflict.to(), sizes, budget);
            if (stretch.outcome() != Outcome.FITS) {
                return stretch;
            }
        }
        Fitting all = fit(0, sweep.size(), sizes);
        if (all.outcome() != Outcome.GAVE_UP) {
            return all;
        }
        for (int length = SHORTEST; length < sweep.size(); length *= 2) {
            for (int from = 0; from < sweep.size(); from += length / 2) {
                Fitting stretch = fit(from, Math.min(from + length, sweep.size()), sizes);
                if (stretch.outcome() == Outcome.DOES_NOT_FIT) {
                    return stretch;
                }
            }
        }
        return new Fitting(sweep, 0, sweep.size(), sizes, budget);
    }

    private Fitting fit(int from, int to, int[] sizes) {
        NodeBudget trial = budget.share(NODES_PER_TURN * (to - from));
        Fitting fitting = new Fitting(sweep, from, to, sizes, trial);
        budget.giveBack(trial);
        return fitting;
    }

    /** Returns a plan whose objects are numbered by first use. */
    private SharedObjectsPlan plan(int[] objects) {
        Map<Integer, Integer> byTensor = new TreeMap<>();
        for (int turn = 0; turn < objects.length; turn++) {
            byTensor.put(sweep.unit(turn).tensor(), objects[turn]);
        }
        Map<Integer, Integer> numbers = new TreeMap<>();
        ImmutableMap.Builder<Integer, Integer> numbered = ImmutableMap.builder();
        byTensor.forEach(
                (tensor, object) -> {
                    numbers.putIfAbsent(object, numbers.size());
                    numbered.put(tensor, numbers.get(object));
                });
        return new SharedObjectsPlan(known.strategy(), problem, numbered.buildOrThrow());
    }
}
