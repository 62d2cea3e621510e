package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.Test;

class ResidencyPlannerTest {

    private static final long PAGE = WeightUse.PAGE_BYTES;

    private static ResidencyPlanner planner(int steps, WeightUse... uses) {
        long[] nanos = new long[steps];
        Arrays.fill(nanos, 100);
        return new ResidencyPlanner(List.of(uses), List.of(), ImmutableLongArray.copyOf(nanos));
    }

    private static WeightUse use(int piece, int first, int last, int pages) {
        return new WeightUse(piece, first, last, pages * PAGE);
    }

    @Test
    void leastBytes_overlappingUses_isTheirSumAtTheHungriestStep() {
        ResidencyPlanner planner = planner(4, use(0, 0, 1, 2), use(1, 1, 2, 3), use(2, 3, 3, 4));
        assertEquals(5 * PAGE, planner.leastBytes());
        assertEquals(1, planner.hungriestStep());
    }

    @Test
    void plan_windowOfAll_pinsAllAndLoadsNothing() {
        ResidencyPlan plan = planner(2, use(0, 0, 0, 2), use(1, 1, 1, 3)).plan(5 * PAGE);
        assertEquals(5 * PAGE, plan.pinnedBytes());
        assertEquals(0, plan.loadedBytes());
    }

    @Test
    void plan_leastWindow_dropsBeforeEachLoad() {
        ResidencyPlan plan = planner(2, use(0, 0, 0, 2), use(1, 1, 1, 2)).plan(2 * PAGE);
        assertEquals(
                List.of(
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOAD, 0, 0),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.DROP, 0, 1),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOAD, 1, 1)),
                plan.actions());
        assertEquals(List.of(1, 3), plan.needs().asList());
    }

    /** Pieces that take equally little compute time per byte stay in the order of their numbers. */
    @Test
    void plan_spareWindow_pinsLeastComputePerByte() {
        ResidencyPlanner planner =
                new ResidencyPlanner(
                        List.of(use(0, 0, 0, 1), use(1, 1, 1, 1), use(2, 2, 2, 1), use(3, 3, 3, 1)),
                        List.of(),
                        ImmutableLongArray.of(900, 10, 800, 700));
        ResidencyPlan plan = planner.plan(3 * PAGE + PAGE / 2);
        assertEquals(0, plan.pinnedBytes());
        ResidencyPlan more =
                new ResidencyPlanner(
                                List.of(
                                        use(0, 0, 0, 1),
                                        use(1, 1, 1, 1),
                                        use(2, 2, 2, 1),
                                        use(3, 3, 3, 1),
                                        use(4, 4, 4, 1)),
                                List.of(),
                                ImmutableLongArray.of(900, 10, 800, 700, 600))
                        .plan(4 * PAGE);
        assertEquals(new ResidencyPlan.Action(ResidencyPlan.Kind.PIN, 1, 0), more.actions().get(0));
        assertEquals(PAGE, more.pinnedBytes());
    }

    /**
     * Room for rows is made before they are read; the rows leave memory before the next piece
     * comes.
     */
    @Test
    void plan_lookup_isDroppedAndNeverLoaded() {
        WeightTrace.Lookup rows =
                new WeightTrace.Lookup(new WeightTrace.Range(1, 2), 1, 1, 2 * PAGE);
        ResidencyPlanner planner =
                new ResidencyPlanner(
                        List.of(use(0, 0, 0, 3), use(3, 2, 2, 3)),
                        List.of(rows),
                        ImmutableLongArray.of(100, 100, 100));
        assertEquals(3 * PAGE, planner.leastBytes());
        ResidencyPlan plan = planner.plan(4 * PAGE);
        assertEquals(
                List.of(
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOOK_UP, 1, 0),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOOK_UP, 2, 0),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOAD, 0, 0),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.DROP, 0, 1),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.DROP, 1, 2),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.DROP, 2, 2),
                        new ResidencyPlan.Action(ResidencyPlan.Kind.LOAD, 3, 2)),
                plan.actions());
        assertEquals(List.of(3, 4, 7), plan.needs().asList());
        assertEquals(6 * PAGE, planner.plan(9 * PAGE).pinnedBytes());
    }

    @Test
    void plan_randomUses_keepsWindowAndNeverWaitsForEver() {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            int steps = 1 + random.nextInt(40);
            List<WeightUse> uses = randomUses(random, steps);
            long[] nanos = random.longs(steps, 0, 1000).toArray();
            ResidencyPlanner planner =
                    new ResidencyPlanner(uses, List.of(), ImmutableLongArray.copyOf(nanos));
            long window = planner.leastBytes() + random.nextInt(30) * PAGE;
            check(uses, planner.plan(window), steps, "seed " + seed);
            assertEquals(planner.plan(window), planner.plan(window));
        }
    }

    private static List<WeightUse> randomUses(Random random, int steps) {
        List<WeightUse> uses = new ArrayList<>();
        int pieces = random.nextInt(20);
        for (int piece = 0; piece < pieces; piece++) {
            int pages = 1 + random.nextInt(4);
            int step = random.nextInt(steps);
            while (step < steps) {
                int last = Math.min(steps - 1, step + random.nextInt(3));
                uses.add(use(piece, step, last, pages));
                step = last + 1 + random.nextInt(steps);
            }
        }
        uses.sort(Comparator.comparingInt(WeightUse::first).thenComparingInt(WeightUse::piece));
        return uses;
    }

    /** Carries the plan out once as late and once as early as it allows. */
    private static void check(List<WeightUse> uses, ResidencyPlan plan, int steps, String name) {
        for (boolean early : new boolean[] {false, true}) {
            Map<Integer, Long> inMemory = new HashMap<>();
            Map<Integer, Long> sizes = new HashMap<>();
            uses.forEach(use -> sizes.put(use.piece(), use.bytes()));
            int done = 0;
            for (int step = 0; step < steps; step++) {
                Set<Integer> needed = new HashSet<>();
                for (WeightUse use : uses) {
                    if (use.first() <= step && step <= use.last()) {
                        needed.add(use.piece());
                    }
                }
                while (done < plan.actions().size()
                        && (done < plan.needs().get(step)
                                || (early && plan.actions().get(done).after() <= step))) {
                    ResidencyPlan.Action action = plan.actions().get(done++);
                    assertTrue(action.after() <= step, name + ": waits for ever");
                    if (action.kind() == ResidencyPlan.Kind.DROP) {
                        assertFalse(
                                uses.stream().anyMatch(use -> isCutShort(use, action)),
                                name + ": dropped too early");
                        inMemory.remove(action.piece());
                    } else {
                        inMemory.put(action.piece(), sizes.get(action.piece()));
                    }
                    long bytes = inMemory.values().stream().mapToLong(Long::longValue).sum();
                    assertTrue(bytes <= plan.windowBytes(), name + ": more than the window");
                }
                assertTrue(inMemory.keySet().containsAll(needed), name + ": not loaded in time");
            }
        }
    }

    /** A piece may be dropped between two uses that follow each other, if it is loaded again. */
    private static boolean isCutShort(WeightUse use, ResidencyPlan.Action drop) {
        return use.piece() == drop.piece()
                && use.first() < drop.after()
                && drop.after() <= use.last();
    }
}
