package org.djlplan.study.criticalfirst;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

/** Tests one pass of the strategy and its data structures. */
class FillingTest {

    @Test
    void timeline_startsWithoutAnEndBefore_areOneMoment() {
        MomentTable timeline = new MomentTable(records(0, 9, 1, 3, 5, 2, 4, 4, 3, 7, 8, 4));
        assertEquals(2, timeline.moments);
        assertArrayEquals(new int[] {0, 0, 0, 1}, timeline.from);
        assertArrayEquals(new int[] {2, 1, 1, 2}, timeline.to);
        assertArrayEquals(new long[] {6, 5}, timeline.breadthBytes);
        assertEquals(6, timeline.boundBytes());
    }

    @Property(tries = 300)
    void timeline_anyProblem_keepsOverlapsAndTheBound(@ForAll("problems") PlanningProblem problem) {
        List<UsageRecord> units = problem.units();
        if (units.isEmpty()) {
            return;
        }
        MomentTable timeline = new MomentTable(units);
        assertEquals(LowerBounds.offsetBytes(units), timeline.boundBytes());
        for (int a = 0; a < units.size(); a++) {
            assertTrue(timeline.life(a) > 0);
            for (int b = 0; b < units.size(); b++) {
                assertEquals(
                        units.get(timeline.index[a]).overlaps(units.get(timeline.index[b])),
                        timeline.from[a] < timeline.to[b] && timeline.from[b] < timeline.to[a]);
            }
        }
    }

    @Property(tries = 300)
    void unplaced_anyWindow_findsTheHighestPriority(
            @ForAll("problems") PlanningProblem problem, @ForAll List<Integer> numbers) {
        List<UsageRecord> units = problem.units();
        if (units.isEmpty()) {
            return;
        }
        MomentTable timeline = new MomentTable(units);
        int[] priorities = IntStream.range(0, units.size()).map(i -> 1 + i * 7 % 5).toArray();
        Unplaced unplaced = new Unplaced(timeline, priorities);
        Set<Integer> removed = new HashSet<>();
        for (int number : numbers) {
            int from = Math.floorMod(number, timeline.moments);
            int to = from + 1 + Math.floorMod(number / 31, timeline.moments - from);
            int moment = from + Math.floorMod(number / 977, to - from);
            List<Integer> left =
                    IntStream.range(0, priorities.length)
                            .filter(unit -> !removed.contains(unit))
                            .boxed()
                            .toList();
            List<Integer> within =
                    left.stream()
                            .filter(u -> timeline.from[u] >= from && timeline.to[u] <= to)
                            .toList();
            List<Integer> alive =
                    within.stream()
                            .filter(u -> timeline.from[u] <= moment && timeline.to[u] > moment)
                            .toList();
            assertHighest(within, priorities, unplaced.within(from, to));
            assertHighest(alive, priorities, unplaced.within(from, moment, to));
            List<Integer> found = new ArrayList<>();
            unplaced.forEachAlive(moment, found::add);
            assertEquals(
                    left.stream()
                            .filter(u -> timeline.from[u] <= moment && timeline.to[u] > moment)
                            .toList(),
                    found);
            int gone = Math.floorMod(number / 7919, priorities.length);
            removed.add(gone);
            unplaced.remove(gone);
        }
    }

    private static void assertHighest(List<Integer> units, int[] priorities, OptionalInt found) {
        assertEquals(units.isEmpty(), found.isEmpty());
        if (found.isPresent()) {
            assertTrue(units.contains(found.getAsInt()));
            int most = units.stream().mapToInt(unit -> priorities[unit]).max().orElseThrow();
            assertEquals(most, priorities[found.getAsInt()]);
        }
    }

    @Property(tries = 300)
    void slack_anyWaste_findsTheLeast(
            @ForAll("problems") PlanningProblem problem, @ForAll List<Integer> numbers) {
        if (problem.units().isEmpty()) {
            return;
        }
        MomentTable timeline = new MomentTable(problem.units());
        Slack slack = new Slack(timeline);
        long[] expected =
                Arrays.stream(timeline.breadthBytes).map(b -> timeline.boundBytes() - b).toArray();
        for (int number : numbers) {
            int from = Math.floorMod(number, timeline.moments);
            int to = from + 1 + Math.floorMod(number / 31, timeline.moments - from);
            long bytes = 1L + Math.floorMod(number / 977, 9);
            slack.waste(from, to, bytes);
            IntStream.range(from, to).forEach(moment -> expected[moment] -= bytes);
            assertEquals(Arrays.stream(expected).allMatch(left -> left >= 0), slack.suffices());
            long least = Arrays.stream(expected, from, to).min().orElseThrow();
            OptionalInt found = slack.leastBelow(from, to, bytes);
            assertEquals(least < bytes, found.isPresent());
            found.ifPresent(moment -> assertEquals(least, expected[moment]));
            found.ifPresent(moment -> assertTrue(from <= moment && moment < to));
        }
    }

    @Test
    void skyline_raisedAndBuiltUpon_staysInAValley() {
        Valleys skyline = new Valleys(10);
        skyline.put(3, 5, 7);
        assertSegment(skyline, 0, 3, 0);
        skyline.put(0, 1, 4);
        assertSegment(skyline, 1, 3, 0);
        assertEquals(4, skyline.wallBytes());
        skyline.raise();
        assertSegment(skyline, 0, 3, 4);
        skyline.put(0, 3, 7);
        assertSegment(skyline, 5, 10, 0);
        skyline.put(6, 10, 9);
        assertSegment(skyline, 5, 6, 0);
        skyline.raise();
        assertSegment(skyline, 0, 6, 7);
        skyline.raise();
        assertSegment(skyline, 0, 10, 9);
    }

    private static void assertSegment(Valleys skyline, int from, int to, long heightBytes) {
        assertEquals(from, skyline.from());
        assertEquals(to, skyline.to());
        assertEquals(heightBytes, skyline.heightBytes());
    }

    @Test
    void filling_slackExceeded_raisesBlockedUnits() {
        // Tensor 2 lives longest and makes a wall; 0 and 4 do not fit beside it any more.
        MomentTable timeline =
                new MomentTable(records(3, 5, 4, 0, 2, 2, 0, 4, 1, 0, 0, 1, 2, 4, 1, 5, 5, 3));
        Filling.Priorities byLife = new Filling.Priorities(timeline, 0, 1, 0);
        int[] before = byLife.priorities();
        assertEquals(7, timeline.boundBytes());
        assertEquals(8, Filling.of(timeline, byLife).layout().totalBytes());
        int[] after = byLife.priorities();
        List<Integer> raised =
                IntStream.range(0, before.length)
                        .filter(unit -> after[unit] > before[unit])
                        .mapToObj(unit -> timeline.index[unit])
                        .toList();
        assertEquals(List.of(4, 0), raised);
        assertEquals(7, Filling.of(timeline, byLife).layout().totalBytes());
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
