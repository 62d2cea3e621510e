package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.budget.Layout.Fit;
import org.djlplan.thirdparty.guava.collect.Lists;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Loads as early as the bytes of the arena allow, then searches for addresses that permit this.
 *
 * <ol>
 *   <li>Which pieces to pin: {@link Unfragmented} quickly computes the result for an arena without
 *       fragmentation, so many sets are tried: the first pieces, the last, and the smallest, up to
 *       a number of bytes, and the best of these with one piece more or less.
 *   <li>The step from which each piece is in the arena: between the earliest step that the bytes
 *       allow and the latest that costs no time. An earlier step gives more slack, but the piece is
 *       harder to place.
 *   <li>Addresses: one after another, each item goes into the smallest gap that is free from the
 *       item's chosen step to its last step; a piece without such a gap takes the gap that becomes
 *       free the earliest.
 *   <li>Then {@link Layout} computes from the addresses how early each load may begin. Pieces whose
 *       load begins later than the number of free bytes requires, and items without any gap, are
 *       placed earlier in the next round (squeaky wheel optimization, Joslin and Clements 1999,
 *       Journal of Artificial Intelligence Research 10).
 * </ol>
 *
 * <p>The search ends when the bound of {@link Unfragmented} is reached, or after a number of
 * layouts. FlexNN ({@link FlexNnStrategy}) chooses addresses in one pass, without knowing which of
 * them matter. FlashMem (2026, arXiv 2602.15379) schedules loads by constraint programming, and
 * counts bytes without addresses. Here one thread loads in the order of use, so one pass over the
 * steps gives the best times exactly. The search is only for addresses, pins and slack, and is fast
 * enough for each change of the budget.
 */
public final class LookAheadStrategy implements StreamingStrategy {

    /** Minimum difference of two tried sets, as a fraction of the pinned bytes. */
    private static final double LEAST_DIFFERENCE = 0.2;

    /** Ratio of the bytes of successive tried sets of pinned pieces. */
    private static final double PINNED_RATIO = 1.6;

    /** Up to this number of uses, every number of pieces is tried. */
    private static final int FEW_USES = 50;

    private static final int MOST_NEIGHBOURS = 600;

    /** Fractions of the way from the latest to the earliest beginning of a load. */
    private static final double[] EAGERNESS = {0.5, 1};

    /** Reduction of the eagerness of pieces that left no place for an item. */
    private static final double LESS_EAGER = 0.25;

    private static final int ROUNDS = 12;

    /** Limit for layouts of large problems: pairs of items, over all layouts. */
    private static final long MOST_PAIRS = 60_000_000;

    private static final int FEWEST_LAYOUTS = 12;

    private static final int MOST_LAYOUTS = 300;

    @Override
    public String name() {
        return "look-ahead";
    }

    @Override
    public Optional<StreamingPlan> plan(StreamingProblem problem, long budgetBytes) {
        return new Search(problem, budgetBytes).plan(name());
    }

    /** A set of pinned pieces, its size, and the result without fragmentation. */
    private record Choice(boolean[] pinned, long pinnedBytes, Outcome bound) {

        boolean differsFrom(Choice other) {
            double least = Math.max(1, LEAST_DIFFERENCE * pinnedBytes);
            return Math.abs(pinnedBytes - other.pinnedBytes) >= least;
        }
    }

    /** The search for one problem and budget. */
    private static final class Search {

        private final StreamingProblem problem;
        private final long budgetBytes;
        private final int units;
        private final Unfragmented unfragmented;
        private final Foresight foresight;

        /** The items without places, for their properties. */
        private final Layout items;

        /** A layout that is not the best, for reuse. */
        private Layout spare;

        private int layoutsLeft;
        private Optional<Layout> best = Optional.empty();
        private int[] bestOrder = {};
        private Outcome bestOutcome = Outcome.WORST;

        Search(StreamingProblem problem, long budgetBytes) {
            this.problem = problem;
            this.budgetBytes = budgetBytes / WeightUse.PAGE_BYTES * WeightUse.PAGE_BYTES;
            units = problem.activations().units().size();
            unfragmented = new Unfragmented(problem, this.budgetBytes);
            foresight = new Foresight(problem);
            items = new Layout(problem, this.budgetBytes);
            spare = new Layout(problem, this.budgetBytes);
            long count = Math.max(1, items.items());
            layoutsLeft =
                    Ints.constrainToRange(
                            (int) (MOST_PAIRS / (count * count)), FEWEST_LAYOUTS, MOST_LAYOUTS);
        }

        Optional<StreamingPlan> plan(String strategy) {
            List<Choice> choices = choices();
            List<Choice> apart = new ArrayList<>();
            for (Choice choice : choices) {
                if (apart.stream().allMatch(choice::differsFrom)) {
                    apart.add(choice);
                }
            }
            layOut(apart);
            layOut(choices);
            return best.map(layout -> layout.plan(strategy, bestOrder));
        }

        /** Returns sets of pinned pieces that leave room for the others, the best bound first. */
        private List<Choice> choices() {
            Comparator<Integer> byBytes =
                    Comparator.comparingLong(use -> problem.weights().get(use).bytes());
            List<Integer> uses = IntStream.range(0, problem.weights().size()).boxed().toList();
            List<Choice> choices = new ArrayList<>();
            choice(uses, 0).ifPresent(choices::add);
            addPrefixes(choices, uses);
            addPrefixes(choices, Lists.reverse(uses));
            addPrefixes(choices, uses.stream().sorted(byBytes).toList());
            choices.stream()
                    .min(Comparator.comparing(Choice::bound))
                    .ifPresent(best -> addNeighbours(choices, best));
            choices.sort(Comparator.comparing(Choice::bound));
            return choices;
        }

        /** Pins or unpins one piece after another, as long as that improves the result. */
        private void addNeighbours(List<Choice> choices, Choice from) {
            int uses = from.pinned.length;
            boolean[] pinned = from.pinned.clone();
            Outcome best = from.bound;
            int unchanged = 0;
            for (int i = 0; i < MOST_NEIGHBOURS && unchanged < uses; i++) {
                pinned[i % uses] ^= true;
                unchanged++;
                Optional<Outcome> bound = unfragmented.outcome(pinned);
                if (bound.isPresent() && bound.get().betterThan(best)) {
                    best = bound.get();
                    choices.add(new Choice(pinned.clone(), pinnedBytes(pinned), best));
                    unchanged = 0;
                } else {
                    pinned[i % uses] ^= true;
                }
            }
        }

        /** Adds prefixes of the uses: with more and more bytes, then around the best one. */
        private void addPrefixes(List<Choice> choices, List<Integer> uses) {
            int best = 0;
            Outcome bestBound = Outcome.WORST;
            List<Integer> counts = new ArrayList<>(growing(uses));
            for (int i = 0, step = uses.size() / 2; i < counts.size(); i++) {
                int count = counts.get(i);
                Optional<Choice> choice = choice(uses, count);
                choice.ifPresent(choices::add);
                if (choice.isPresent() && choice.get().bound.betterThan(bestBound)) {
                    best = count;
                    bestBound = choice.get().bound;
                }
                if (i == counts.size() - 1 && step > 1) {
                    step /= 2;
                    counts.add(Math.min(best + step, uses.size()));
                    counts.add(Math.max(best - step, 0));
                }
            }
        }

        private List<Integer> growing(List<Integer> uses) {
            List<Integer> counts = new ArrayList<>();
            double next = 1;
            double bytes = 0;
            for (int count = 1; count <= uses.size(); count++) {
                bytes += problem.weights().get(uses.get(count - 1)).bytes();
                if (bytes >= next || count == uses.size() || uses.size() <= FEW_USES) {
                    next = bytes * PINNED_RATIO;
                    counts.add(count);
                }
            }
            return counts;
        }

        private Optional<Choice> choice(List<Integer> uses, int count) {
            boolean[] pinned = new boolean[uses.size()];
            uses.subList(0, count).forEach(use -> pinned[use] = true);
            return unfragmented
                    .outcome(pinned)
                    .map(bound -> new Choice(pinned, pinnedBytes(pinned), bound));
        }

        private long pinnedBytes(boolean[] pinned) {
            long bytes = 0;
            for (int use = 0; use < pinned.length; use++) {
                bytes += pinned[use] ? problem.weights().get(use).bytes() : 0;
            }
            return bytes;
        }

        private void layOut(List<Choice> choices) {
            for (double eagerness : EAGERNESS) {
                for (boolean byArea : new boolean[] {false, true}) {
                    for (Choice choice : choices) {
                        if (mayBeBetter(choice)) {
                            new Rounds(choice, eagerness, byArea).run();
                        }
                    }
                }
            }
        }

        private boolean mayBeBetter(Choice choice) {
            return layoutsLeft > 0 && choice.bound.betterThan(bestOutcome);
        }

        private Layout cleared() {
            if (best.isPresent() && best.get() == spare) {
                spare = new Layout(problem, budgetBytes);
            } else {
                spare.clear();
            }
            return spare;
        }

        private void keepIfBetter(Layout layout, int[] order, int[] after) {
            Outcome outcome = foresight.outcome(order, after);
            if (outcome.betterThan(bestOutcome)) {
                best = Optional.of(layout);
                bestOrder = order;
                bestOutcome = outcome;
            }
        }

        /**
         * A series of layouts that starts from one order of items, and learns which items to place
         * first.
         */
        private final class Rounds {

            private final Choice choice;
            private final int[] earliest;
            private final int[] latest;
            private final int[] order;
            private final double[] rank;
            private final double[] eagerness;

            /** The uses that are not pinned, in the order of the last layout. */
            private final int[] ranked;

            /**
             * @param byArea whether items are ordered by bytes × steps instead of bytes
             */
            Rounds(Choice choice, double eagerness, boolean byArea) {
                this.choice = choice;
                Optional<Outcome> unused = unfragmented.outcome(choice.pinned);
                earliest = unfragmented.earliest();
                latest = unfragmented.latest();
                order = unfragmented.order();
                this.eagerness = new double[latest.length];
                Arrays.fill(this.eagerness, eagerness);
                rank = new double[items.items()];
                for (int item = 0; item < rank.length; item++) {
                    int steps = items.last(item) + 1 - wanted(item);
                    rank[item] = -items.bytes(item) * (byArea ? steps : 1.0);
                }
                ranked =
                        IntStream.range(0, rank.length)
                                .filter(item -> item < units || !choice.pinned[item - units])
                                .toArray();
            }

            /**
             * Returns the step from which on an item should have its place: between the latest and
             * the earliest beginning of its load or, if eagerness is negative, between that latest
             * beginning and the item's first step.
             */
            private int wanted(int item) {
                if (item < units) {
                    return items.first(item);
                }
                int use = item - units;
                int begin = eagerness[use] < 0 ? items.first(item) : earliest[use];
                return latest[use] + (int) (Math.abs(eagerness[use]) * (begin - latest[use]));
            }

            void run() {
                for (int round = 0; round < ROUNDS && mayBeBetter(choice); round++) {
                    layoutsLeft--;
                    sortByRank();
                    Layout layout = cleared();
                    layout.pin(choice.pinned);
                    int homeless = place(layout);
                    if (homeless >= 0) {
                        rank[homeless] = -1;
                        makeRoom(homeless);
                    } else {
                        int[] after = layout.after();
                        keepIfBetter(layout, order, after);
                        keepIfBetter(layout, LoadOrder.of(problem, order, after), after);
                        blame(after);
                    }
                }
            }

            /**
             * Sets the rank of each item to its place in the order; the items are nearly sorted.
             */
            private void sortByRank() {
                for (int i = 1; i < ranked.length; i++) {
                    int item = ranked[i];
                    int at = i;
                    for (; at > 0 && isBefore(item, ranked[at - 1]); at--) {
                        ranked[at] = ranked[at - 1];
                    }
                    ranked[at] = item;
                }
                for (int i = 0; i < ranked.length; i++) {
                    rank[ranked[i]] = i;
                }
            }

            private boolean isBefore(int item, int other) {
                return rank[item] < rank[other] || (rank[item] == rank[other] && item < other);
            }

            /** Returns an item that finds no place, or −1 if all are placed. */
            private int place(Layout layout) {
                for (int item : ranked) {
                    int from = wanted(item);
                    if (!layout.tryPlace(item, from, Fit.TIGHTEST)) {
                        int free = item < units ? -1 : layout.earliest(item, from);
                        if (free < 0) {
                            return item;
                        }
                        layout.tryPlace(item, free, Fit.TIGHTEST);
                    }
                }
                return -1;
            }

            /** Delays pieces that are in the arena together with an item but not used yet. */
            private void makeRoom(int item) {
                for (int use : order) {
                    if (items.first(units + use) > items.last(item)
                            && wanted(units + use) <= items.last(item)) {
                        eagerness[use] = Math.max(-1, eagerness[use] - LESS_EAGER);
                    }
                }
            }

            /** Moves forward the uses whose loads are delayed more than the bytes explain. */
            private void blame(int[] after) {
                int loader = 0;
                for (int use : order) {
                    if (after[use] > Math.max(loader, earliest[use])) {
                        rank[units + use] /= 2;
                    }
                    loader = Math.max(loader, after[use]);
                }
            }
        }
    }
}
