package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.plan.SmallestGap;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Finds places in an arena for everything in a problem. The placed objects are <em>items</em>:
 * first the units of the activations, then the uses of pieces, both in the order of the problem.
 * Pieces lie at whole pages.
 *
 * <p>Only addresses must be chosen: the load of a use begins as soon as the last item that overlaps
 * its bytes is finished, because nothing else needs these bytes in between. Loads are carried out
 * in the order in which pieces are first used. All steps that a load waits for come before its
 * first use, and thus before the first use of every later load, so no choice of addresses can
 * deadlock.
 */
final class Layout {

    private static final long NOWHERE = -1;
    private static final int MOST_ATTEMPTS = 12;

    private final StreamingProblem problem;
    private final int units;
    private final ImmutableList<UsageRecord> items;
    private final ImmutableList<UsageRecord> largestFirst;
    private final boolean[] pinned;
    private final long[] offsets;

    /** The step at which each item enters its place. */
    private final int[] from;

    /** The placed items, except pinned ones, by their offsets. */
    private final int[] placed;

    private int count;
    private long endBytes;

    Layout(StreamingProblem problem) {
        this.problem = problem;
        units = problem.activations().units().size();
        List<UsageRecord> all = new ArrayList<>();
        for (UsageRecord unit : problem.activations().units()) {
            all.add(new UsageRecord(all.size(), unit.first(), unit.last(), unit.bytes()));
        }
        for (WeightUse use : problem.weights()) {
            all.add(new UsageRecord(all.size(), use.first(), use.last(), use.bytes()));
        }
        items = ImmutableList.copyOf(all);
        all.sort(Comparator.comparingLong(UsageRecord::bytes).reversed());
        largestFirst = ImmutableList.copyOf(all);
        pinned = new boolean[items.size() - units];
        offsets = new long[items.size()];
        from = new int[items.size()];
        placed = new int[items.size()];
    }

    /**
     * Returns the smallest arena: every piece is alive only at the steps that use it, and the
     * portfolio that also plans models without a budget places all items. Sizes are rounded up to
     * whole pages, so that every offset is a multiple of a page.
     */
    OffsetPlan packed() {
        List<UsageRecord> inPages = new ArrayList<>();
        for (UsageRecord item : items) {
            long bytes = WeightUse.roundUp(item.bytes());
            inPages.add(new UsageRecord(item.tensor(), item.first(), item.last(), bytes));
        }
        return new Portfolio(Portfolio.STRATEGIES, WeightUse.PAGE_BYTES)
                .best(List.of(new PlanningProblem(inPages)))
                .plan();
    }

    /** Returns a plan that begins with the smallest arena; pieces then move to earlier places. */
    StreamingPlan tightest(OffsetPlan packed, long budgetBytes) {
        begin(new boolean[pinned.length], budgetBytes);
        for (UsageRecord item : items) {
            place(item, item.first(), packed.offsetOf(item.tensor()));
        }
        moveEarlier();
        return plan("tightest");
    }

    /**
     * Returns a plan in which pieces are in the arena early. The items are placed one by one, the
     * largest first; an item that finds no place comes first in another attempt. Then the pieces
     * move to earlier places.
     *
     * @param pins by use, whether it stays in the arena between inferences; these uses lie side by
     *     side at the arena's end
     * @param wanted the step from which on each use should be in the arena
     * @return empty if an item finds no place
     */
    Optional<StreamingPlan> lookingAhead(boolean[] pins, int[] wanted, long budgetBytes) {
        List<UsageRecord> order = new ArrayList<>(largestFirst);
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            begin(pins, budgetBytes);
            Optional<UsageRecord> homeless = placeAll(order, wanted);
            if (homeless.isEmpty()) {
                moveEarlier();
                return Optional.of(plan("look-ahead"));
            }
            order.remove(homeless.get());
            order.add(0, homeless.get());
        }
        return Optional.empty();
    }

    /** Places all items that are not pinned; returns one that finds no gap. */
    private Optional<UsageRecord> placeAll(List<UsageRecord> order, int[] wanted) {
        for (UsageRecord item : order) {
            if (!tryPlace(item, wanted)) {
                return Optional.of(item);
            }
        }
        return Optional.empty();
    }

    private boolean tryPlace(UsageRecord item, int[] wanted) {
        int use = item.tensor() - units;
        if (use >= 0 && pinned[use]) {
            return true;
        }
        int earliest = use < 0 ? item.first() : earliest(item, wanted[use]);
        long offset = gap(item, earliest);
        if (offset == NOWHERE) {
            return false;
        }
        place(item, earliest, offset);
        return true;
    }

    private void begin(boolean[] pins, long budgetBytes) {
        System.arraycopy(pins, 0, pinned, 0, pins.length);
        count = 0;
        endBytes = budgetBytes / WeightUse.PAGE_BYTES * WeightUse.PAGE_BYTES;
        for (int use = 0; use < pins.length; use++) {
            if (pins[use]) {
                endBytes -= items.get(units + use).bytes();
                offsets[units + use] = endBytes;
            }
        }
    }

    /** Moves the pieces, in order of use, each to the place with the earliest load. */
    private void moveEarlier() {
        int loader = 0;
        for (UsageRecord item : items.subList(units, items.size())) {
            int number = item.tensor();
            if (!pinned[number - units]) {
                int at = 0;
                while (placed[at] != number) {
                    at++;
                }
                System.arraycopy(placed, at + 1, placed, at, --count - at);
                int earliest = earliest(item, Math.min(loader, from[number]));
                place(item, earliest, gap(item, earliest));
                loader = Math.max(loader, earliest);
            }
        }
    }

    /** Returns the first step, at or after the wanted one, from which on there is a gap. */
    private int earliest(UsageRecord item, int wanted) {
        if (gap(item, wanted) != NOWHERE) {
            return wanted;
        }
        int low = wanted + 1;
        int high = item.first();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (gap(item, middle) == NOWHERE) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return high;
    }

    /**
     * Returns the offset of the smallest gap for an item from a step to its last one. Free space up
     * to the arena's end comes last.
     */
    private long gap(UsageRecord item, int first) {
        SmallestGap gap =
                new SmallestGap(item.bytes(), item.tensor() >= units ? WeightUse.PAGE_BYTES : 1);
        for (int i = 0; i < count; i++) {
            UsageRecord other = items.get(placed[i]);
            if (from[placed[i]] <= item.last() && first <= other.last()) {
                long offset = offsets[placed[i]];
                gap.add(offset, offset + other.bytes());
            }
        }
        return gap.offset() + item.bytes() <= endBytes ? gap.offset() : NOWHERE;
    }

    private void place(UsageRecord item, int first, long offset) {
        int number = item.tensor();
        from[number] = first;
        offsets[number] = offset;
        int at = count++;
        for (; at > 0 && offsets[placed[at - 1]] > offset; at--) {
            placed[at] = placed[at - 1];
        }
        placed[at] = number;
    }

    private StreamingPlan plan(String strategy) {
        ImmutableMap.Builder<Integer, Long> places = ImmutableMap.builder();
        List<Load> loads = new ArrayList<>();
        long end = 0;
        for (UsageRecord item : items) {
            int number = item.tensor();
            end = Math.max(end, offsets[number] + item.bytes());
            if (number < units) {
                places.put(problem.activations().units().get(number).tensor(), offsets[number]);
            } else {
                boolean stays = pinned[number - units];
                int after = stays ? 0 : after(item);
                loads.add(new Load(number - units, offsets[number], after, stays));
            }
        }
        loads.sort(Comparator.comparing(load -> !load.pinned()));
        return new StreamingPlan(
                strategy, problem, places.buildOrThrow(), loads, WeightUse.roundUp(end));
    }

    /** Returns for how many steps the load of a use must wait. */
    private int after(UsageRecord use) {
        long begin = offsets[use.tensor()];
        int after = 0;
        for (UsageRecord other : items) {
            long otherBegin = offsets[other.tensor()];
            if (other.last() < use.first()
                    && otherBegin < begin + use.bytes()
                    && begin < otherBegin + other.bytes()) {
                after = Math.max(after, other.last() + 1);
            }
        }
        return after;
    }
}
