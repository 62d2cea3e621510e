package org.djlplan.study.strippacking;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.internal.plan.OffsetStrategy;

/**
 * The strategy for problems of many thousand units. It fills the arena from the bottom up, starting
 * with the moments at which the least memory may be wasted, and learns from the waste of earlier
 * passes.
 *
 * <p>The framework is the best-fit strategy of strip packing (Burke, Kendall and Whitwell 2004,
 * section 3; for memory, Sekiyama et al. 2018): the lowest segment of the skyline takes a unit that
 * fits into it, or is raised to its neighbour. Four things are ours:
 *
 * <ul>
 *   <li>Time is reduced to the moments that matter ({@link MomentTable}).
 *   <li>Slack is the lower bound minus the breadth and the waste at a moment ({@link Slack}). If
 *       slack is scarce, units alive at the scarcest moment are preferred, because other units
 *       would build walls beside this moment, across which nothing fits any more.
 *   <li>Passes are repeated. Units that were blocked where the slack was exceeded go earlier in the
 *       next pass ({@link Filling}). Two priorities alternate, one by size and one by life; each
 *       learns separately.
 *   <li>After each pass, units at the top are moved into gaps, and the units in their way are moved
 *       elsewhere ({@link Tightening}).
 * </ul>
 *
 * <p>A pass takes O(n) steps on the skyline, each with searches in trees of size O(n): O(n log n)
 * if a search visits O(log n) nodes, as on profiles of training and serving, from a thousand to a
 * million units; the proved bound is only O(n²). Tightening may cost half as many steps as the pass
 * took. There are at most {@value #MOST_PASSES} passes, and none starts after {@value #MOST_VISITS}
 * steps, so a million units get one pass. Steps are counted, not timed, so the result is
 * deterministic.
 */
public final class CriticalFirst {

    private static final int MOST_PASSES = 8;
    private static final long MOST_VISITS = 24_000_000;

    public static final OffsetStrategy STRATEGY =
            new OffsetStrategy(
                    "critical-first",
                    4_000_000,
                    problem -> best(new MomentTable(problem.units())).byTensor());

    private CriticalFirst() {}

    private static MomentTable.Layout best(MomentTable timeline) {
        List<Filling.Priorities> priorities =
                List.of(
                        Filling.Priorities.of(timeline, 2, 1, 0.2),
                        Filling.Priorities.of(timeline, 1, 3, 0.5));
        MomentTable.Neighbours neighbours = new MomentTable.Neighbours(timeline);
        List<MomentTable.Layout> layouts = new ArrayList<>();
        long visits = 0;
        for (int pass = 0; pass < MOST_PASSES && visits < MOST_VISITS; pass++) {
            Filling filling = Filling.of(timeline, priorities.get(pass % priorities.size()));
            Tightening tightening = new Tightening(neighbours, filling.visits() / 2);
            MomentTable.Layout layout = tightening.of(filling.layout());
            layouts.add(layout);
            if (layout.isMinimal()) {
                break;
            }
            visits += filling.visits() + tightening.cost();
        }
        return Collections.min(layouts, Comparator.comparingLong(MomentTable.Layout::totalBytes));
    }
}
