package org.djlplan.study.shared;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.LongMath;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;

/**
 * Finds the smallest shared objects by search: it colours an interval graph so that the sum of each
 * colour's largest size is minimal, which is NP-hard.
 *
 * <p>The search enumerates sizes of objects instead of plans, smallest sum first, starting from the
 * positional maxima. A sweep through time decides whether the units fit into objects of these
 * sizes; the first sizes into which they fit are optimal. If the units do not fit, the failure is
 * generalized to a short interval of time and to the largest sizes into which the interval's units
 * do not fit; that excludes most other sizes at once. The best plan of the other strategies is the
 * upper bound, and is optimal if no smaller sizes remain.
 *
 * <p>In the worst case the search is exponential in the number of units alive at once. For
 * networks, where that number is small, it takes milliseconds. Beyond a limit of steps it returns
 * the best plan of the other strategies, with the proved lower bound.
 */
final class OptimalObjects {

    /**
     * The result of a search.
     *
     * @param plan the smallest plan found
     * @param lowerBoundBytes no plan of the problem is smaller: the sum of positional maxima, or a
     *     larger bound that the search proved
     */
    record Result(OffsetPlan plan, long lowerBoundBytes) {}

    /** The name of the strategy. */
    static final String NAME = "shared-optimal";

    /** Enough for every network of the paper, and at most about a second. */
    private static final long USUAL_STEPS = 10_000_000;

    private final long mostSteps;

    OptimalObjects() {
        this(USUAL_STEPS);
    }

    /** Creates a search with a limit of steps; a step copies one number of a state. */
    OptimalObjects(long mostSteps) {
        this.mostSteps = mostSteps;
    }

    /**
     * Returns the smallest plan found, and the proved lower bound.
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    Result search(PlanningProblem problem) {
        OffsetPlan known =
                SharedStrategies.GREEDY.stream()
                        .filter(strategy -> strategy.admits(problem))
                        .map(strategy -> strategy.plan(problem))
                        .min(Comparator.comparingLong(OffsetPlan::totalBytes))
                        .map(plan -> new OffsetPlan(NAME, problem, plan.unitOffsets()))
                        .orElseThrow();
        return known.totalBytes() == LowerBounds.sharedObjectBytes(problem.units())
                ? new Result(known, known.totalBytes())
                : new Search(known, mostSteps).run();
    }

    /**
     * An interval of the sweep, and sizes of objects, as large as possible, into which the
     * interval's units do not fit. Sizes that are at most these, compared one by one from the
     * largest on, are not enough either.
     *
     * @param from first position of the interval
     * @param to position after its last
     * @param sizes ranks of sizes, largest first
     * @param further rank of the size of any number of further objects; 0 for no further objects
     */
    private record Nogood(int from, int to, int[] sizes, int further) {

        boolean covers(int[] others) {
            return IntStream.range(0, others.length).allMatch(i -> others[i] <= rank(i));
        }

        int rank(int object) {
            return object < sizes.length ? sizes[object] : further;
        }

        /** Returns the same with another rank of an object, or of all further ones. */
        Nogood with(int object, int rank) {
            if (object == sizes.length) {
                return new Nogood(from, to, sizes, rank);
            }
            int[] other = sizes.clone();
            other[object] = rank;
            return new Nogood(from, to, other, further);
        }
    }

    /** Sizes as ranks, largest first, and their sum. */
    private record Choice(long bytes, long number, int[] sizes) {}

    private static final class Search {

        private final OffsetPlan known;
        private final Sweep sweep;

        /** Latest first, because sizes often fail in the same interval again. */
        private final List<Nogood> nogoods = new ArrayList<>();

        private final PriorityQueue<Choice> choices =
                new PriorityQueue<>(
                        Comparator.comparingLong(Choice::bytes).thenComparingLong(Choice::number));
        private final Set<ImmutableIntArray> met = new HashSet<>();

        /**
         * @param known a plan; only smaller ones are searched
         */
        Search(OffsetPlan known, long mostSteps) {
            this.known = known;
            sweep = new Sweep(known.problem().units(), mostSteps);
            offer(
                    LowerBounds.positionalMaxima(known.problem().units()).stream()
                            .mapToInt(sweep::rankOf)
                            .toArray());
        }

        Result run() {
            while (!choices.isEmpty() && sweep.stepsLeft > 0) {
                int[] sizes = choices.element().sizes;
                Optional<Nogood> nogood =
                        nogoods.stream().filter(each -> each.covers(sizes)).findFirst();
                if (nogood.isPresent()) {
                    choices.remove();
                    branch(sizes, nogood.get());
                } else {
                    Sweep.Fit fit = fit(sizes);
                    if (fit.fits()) {
                        OffsetPlan optimum =
                                new OffsetPlan(
                                        NAME,
                                        known.problem(),
                                        SharedObjects.endToEnd(known.problem(), fit.objects()));
                        return new Result(optimum, optimum.totalBytes());
                    }
                    if (fit.fails()) {
                        nogoods.add(0, generalize(fit, sizes));
                    }
                }
            }
            long provedBytes = choices.isEmpty() ? known.totalBytes() : choices.element().bytes;
            return new Result(known, provedBytes);
        }

        /** Tries the intervals first in which units did not fit before. */
        private Sweep.Fit fit(int[] sizes) {
            for (Nogood nogood : nogoods) {
                Sweep.Fit interval = sweep.fit(nogood.from(), nogood.to(), sizes, Long.MAX_VALUE);
                if (!interval.fits()) {
                    return interval;
                }
            }
            return sweep.fit(0, sweep.units.size(), sizes, Long.MAX_VALUE);
        }

        /** Offers the next larger sizes that the nogood does not cover. */
        private void branch(int[] sizes, Nogood nogood) {
            for (int j = 0; j <= Math.max(sizes.length, nogood.sizes().length); j++) {
                int rank = nogood.rank(j) + 1;
                if (rank <= sweep.highestRank()) {
                    int[] larger = Arrays.copyOf(sizes, Math.max(sizes.length, j + 1));
                    for (int i = 0; i <= j; i++) {
                        larger[i] = Math.max(larger[i], rank);
                    }
                    offer(larger);
                }
            }
        }

        private void offer(int[] sizes) {
            long bytes = 0;
            for (int size : sizes) {
                bytes = LongMath.saturatedAdd(bytes, sweep.bytesOf(size));
            }
            if (bytes < known.totalBytes() && met.add(ImmutableIntArray.copyOf(sizes))) {
                choices.add(new Choice(bytes, met.size(), sizes));
            }
        }

        /** Shortens the interval of a failure, then enlarges the sizes as far as possible. */
        private Nogood generalize(Sweep.Fit failure, int[] sizes) {
            long mostSteps = 4 * failure.steps() + 4_000;
            int low = failure.from();
            for (int high = failure.to() - 1; low < high; ) {
                int middle = (low + high + 1) >>> 1;
                if (sweep.fit(middle, failure.to(), sizes, mostSteps).fails()) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            Nogood nogood = new Nogood(low, failure.to(), sizes, 0);
            for (Nogood larger = enlarge(nogood, mostSteps);
                    !larger.equals(nogood);
                    larger = enlarge(nogood, mostSteps)) {
                nogood = larger;
            }
            return nogood;
        }

        /** Enlarges every size as far as possible, the cheapest first. */
        private Nogood enlarge(Nogood nogood, long mostSteps) {
            Nogood best = nogood;
            List<Integer> order =
                    IntStream.rangeClosed(0, nogood.sizes().length)
                            .boxed()
                            .sorted(Comparator.comparingLong(object -> cost(nogood, object)))
                            .toList();
            for (int object : order) {
                int low = best.rank(object);
                int high = object == 0 ? sweep.highestRank() : best.sizes()[object - 1];
                while (low < high) {
                    int rank = (low + high + 1) >>> 1;
                    Nogood larger = best.with(object, rank);
                    if (fails(larger, mostSteps)) {
                        low = rank;
                        best = larger;
                    } else {
                        high = rank - 1;
                    }
                }
            }
            return best;
        }

        /** Returns the number of bytes by which the sum of sizes must grow to enlarge an object. */
        private long cost(Nogood nogood, int object) {
            int rank = Math.min(sweep.highestRank(), nogood.rank(object) + 1);
            long cost = 0;
            for (int i = 0; i <= object; i++) {
                cost += Math.max(0, sweep.bytesOf(rank) - sweep.bytesOf(nogood.rank(i)));
            }
            return cost;
        }

        /** More further objects than there are objects are never useful. */
        private boolean fails(Nogood nogood, long mostSteps) {
            int count = nogood.sizes().length;
            int[] objects = Arrays.copyOf(nogood.sizes(), nogood.further() > 0 ? 2 * count : count);
            Arrays.fill(objects, count, objects.length, nogood.further());
            return sweep.fit(nogood.from(), nogood.to(), objects, mostSteps).fails();
        }
    }

    /** The units in order of their first operators; sizes are ranks, from 1 on. */
    private static final class Sweep {

        /**
         * Whether units fit into objects.
         *
         * @param from first position of the interval
         * @param to position after the last that was tried
         * @param steps number of steps
         * @param found number of each unit's object by tensor id, if the units fit
         * @param gaveUp whether the limit of steps was reached
         */
        record Fit(
                int from,
                int to,
                long steps,
                Optional<Map<Integer, Integer>> found,
                boolean gaveUp) {

            boolean fits() {
                return found.isPresent();
            }

            boolean fails() {
                return !fits() && !gaveUp;
            }

            Map<Integer, Integer> objects() {
                return found.orElseThrow();
            }
        }

        /** A placed unit, the one before, and the position from which each object is free. */
        private record Step(Step before, int object, int[] freeFrom) {}

        final ImmutableList<UsageRecord> units;
        long stepsLeft;
        private final long[] sizes;
        private final int[] ranks;

        /** Per position: the first position at which the unit is finished. */
        private final int[] released;

        /** Per rank and position: the next position whose unit fits. */
        private final int[][] nextUse;

        /** Per rank and position: the largest rank from there on that fits. */
        private final int[][] largest;

        Sweep(List<UsageRecord> all, long mostSteps) {
            units = ImmutableList.sortedCopyOf(UnitOrders::byFirstAndSize, all);
            stepsLeft = mostSteps;
            sizes = units.stream().mapToLong(UsageRecord::bytes).sorted().distinct().toArray();
            ranks = units.stream().mapToInt(unit -> rankOf(unit.bytes())).toArray();
            int count = ranks.length;
            released = new int[count];
            for (int i = 0; i < count; i++) {
                released[i] = i + 1;
                while (released[i] < count
                        && units.get(released[i]).first() <= units.get(i).last()) {
                    released[i]++;
                }
            }
            nextUse = new int[sizes.length + 1][count + 1];
            largest = new int[sizes.length + 1][count + 1];
            for (int rank = 0; rank <= sizes.length; rank++) {
                nextUse[rank][count] = count;
                for (int i = count - 1; i >= 0; i--) {
                    boolean fits = ranks[i] <= rank;
                    nextUse[rank][i] = fits ? i : nextUse[rank][i + 1];
                    largest[rank][i] = Math.max(largest[rank][i + 1], fits ? ranks[i] : 0);
                }
            }
        }

        int highestRank() {
            return sizes.length;
        }

        int rankOf(long bytes) {
            return Arrays.binarySearch(sizes, bytes) + 1;
        }

        long bytesOf(int rank) {
            return rank == 0 ? 0 : sizes[rank - 1];
        }

        /**
         * Places the units from a position up to another in every way, unit by unit.
         *
         * @param objects ranks of the objects' sizes, largest first
         */
        Fit fit(int from, int to, int[] objects, long mostSteps) {
            int[] free = new int[objects.length];
            Map<ImmutableIntArray, Step> layer = new LinkedHashMap<>();
            layer.put(ImmutableIntArray.of(), new Step(null, 0, free));
            long steps = 0;
            for (int position = from; position < to; position++) {
                Map<ImmutableIntArray, Step> next = new LinkedHashMap<>();
                for (Step step : layer.values()) {
                    if (steps > mostSteps || stepsLeft < 0) {
                        return new Fit(from, to, steps, Optional.empty(), true);
                    }
                    for (int i = 0; i < objects.length && objects[i] >= ranks[position]; i++) {
                        if (step.freeFrom[i] <= position) {
                            steps += objects.length;
                            stepsLeft -= objects.length;
                            int[] then = step.freeFrom.clone();
                            then[i] = released[position];
                            next.putIfAbsent(
                                    state(position + 1, objects, then), new Step(step, i, then));
                        }
                    }
                }
                if (next.isEmpty()) {
                    return new Fit(from, position + 1, steps, Optional.empty(), false);
                }
                layer = next;
            }
            return new Fit(from, to, steps, Optional.of(numbered(layer)), false);
        }

        /**
         * Returns what matters of a state: when each object is used next at the earliest, sorted
         * among objects that no later unit distinguishes.
         */
        private ImmutableIntArray state(int position, int[] objects, int[] freeFrom) {
            int[] times = new int[objects.length];
            int group = 0;
            for (int i = 0; i < objects.length; i++) {
                times[i] = nextUse[objects[i]][Math.max(position, freeFrom[i])];
                if (i + 1 == objects.length
                        || largest[objects[i]][position] != largest[objects[i + 1]][position]) {
                    Arrays.sort(times, group, i + 1);
                    group = i + 1;
                }
            }
            return ImmutableIntArray.copyOf(times);
        }

        /** Returns the objects, numbered by first use. */
        private Map<Integer, Integer> numbered(Map<ImmutableIntArray, Step> layer) {
            List<Step> steps = new ArrayList<>();
            for (Step at = layer.values().iterator().next(); at.before != null; at = at.before) {
                steps.add(0, at);
            }
            Map<Integer, Integer> numbers = new HashMap<>();
            Map<Integer, Integer> byTensor = new HashMap<>();
            for (int i = 0; i < steps.size(); i++) {
                numbers.putIfAbsent(steps.get(i).object, numbers.size());
                byTensor.put(units.get(i).tensor(), numbers.get(steps.get(i).object));
            }
            return byTensor;
        }
    }
}
