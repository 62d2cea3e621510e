package org.djlplan.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.djlplan.delegation.internal.choice.Units;
import org.djlplan.delegation.internal.choice.Units.Unit;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.study.delegation.FirstN;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * Names candidates by the partitions that they delegate, numbered from 1: {@code all}, {@code 1,3
 * of 3}, {@code CPU kernels}. A part of a partition is named by its operators, numbered from 0:
 * {@code 1,2(30–57) of 3}. A candidate that builds its buffers for each prediction has a suffix:
 * {@code all, transient}.
 */
final class SetNames {

    static final String NOTHING = "CPU kernels";
    static final String EVERYTHING = "all";
    private static final String TRANSIENT = ", transient";

    private static final int MOST_RUNS = 2;

    private final ImmutableList<? extends Set<Integer>> partitions;
    private final ImmutableList<Unit> units;
    private final ImmutableSet<Integer> working;

    private SetNames(List<? extends Set<Integer>> partitions, List<Unit> units) {
        this.partitions = ImmutableList.copyOf(partitions);
        this.units = ImmutableList.copyOf(units);
        this.working =
                units.stream()
                        .flatMap(unit -> unit.operators().stream())
                        .collect(ImmutableSet.toImmutableSet());
    }

    /**
     * Returns the names of a model's candidates.
     *
     * @param partitions as reported by the delegate
     */
    static SetNames of(Graph graph, List<? extends Set<Integer>> partitions) {
        return new SetNames(partitions, Units.of(graph, partitions).all());
    }

    /** Returns the name of a candidate, without its threads. */
    String name(Candidate candidate) {
        if (!candidate.recipe().isEmpty()) {
            return candidate.recipe();
        }
        if (!candidate.delegates()) {
            return NOTHING;
        }
        List<String> names = new ArrayList<>();
        boolean whole = true;
        for (Unit unit : units) {
            if (candidate.operators().containsAll(unit.operators())) {
                names.add(Integer.toString(unit.partition() + 1));
            } else if (touches(candidate, unit)) {
                names.add((unit.partition() + 1) + part(unit, candidate));
                whole = false;
            }
        }
        String name =
                whole && names.size() == units.size()
                        ? EVERYTHING
                        : String.join(",", names) + " of " + partitions.size();
        return candidate.transientBuffers() ? name + TRANSIENT : name;
    }

    /** Returns the delegated operators of a partition: up to two ranges, or else their number. */
    private static String part(Unit unit, Candidate candidate) {
        List<String> runs = new ArrayList<>();
        List<Integer> run = new ArrayList<>();
        for (int operator : unit.operators()) {
            if (candidate.operators().contains(operator)) {
                run.add(operator);
            } else {
                end(run, runs);
            }
        }
        end(run, runs);
        return runs.size() <= MOST_RUNS
                ? "(" + String.join(",", runs) + ")"
                : "(" + runs.size() + " parts)";
    }

    private static void end(List<Integer> run, List<String> runs) {
        if (!run.isEmpty()) {
            int last = run.get(run.size() - 1);
            runs.add(run.size() == 1 ? "" + last : run.get(0) + "–" + last);
            run.clear();
        }
    }

    private static boolean touches(Candidate candidate, Unit unit) {
        return !Collections.disjoint(candidate.operators(), unit.operators());
    }

    /**
     * Returns the partitions of which a candidate delegates at least one operator, numbered from 1.
     */
    ImmutableList<Integer> touched(Candidate candidate) {
        return units.stream()
                .filter(unit -> touches(candidate, unit))
                .map(unit -> unit.partition() + 1)
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns the number of partitions for which TensorFlow Lite's own rule would delegate the same
     * operators; empty if there is none. Constant operators are ignored, because no inference runs
     * them.
     */
    OptionalInt firstN(Candidate candidate) {
        Set<Integer> own = Sets.intersection(candidate.operators(), working);
        for (int count = 1; count <= partitions.size() && !own.isEmpty(); count++) {
            Set<Integer> rule = FirstN.operators(partitions, count);
            if (own.equals(Sets.intersection(rule, working))) {
                return OptionalInt.of(count);
            }
        }
        return OptionalInt.empty();
    }
}
