package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class KernelSelectionTest {

    private static final long MILLI = 1_000_000;

    /** A selection rounds sizes to units: the available bytes divided by this number. */
    private static final int UNITS = 1024;

    private static final long NANOS_PER_RUN = 50_000;

    /** Returns a chain of 1 × 1 convolutions with weights and outputs of these kilobytes. */
    private static Graph chain(List<Integer> weightKilobytes, List<Integer> outputKilobytes) {
        GraphSketch sketch = new GraphSketch();
        int last = sketch.input(256);
        for (int i = 0; i < weightKilobytes.size(); i++) {
            int weights = sketch.weights(256 * weightKilobytes.get(i));
            int output = sketch.tensor(256 * outputKilobytes.get(i));
            sketch.operator("CONV_2D", output, last, weights);
            last = output;
        }
        return sketch.output(last).build();
    }

    private static long[] millis(Integer... each) {
        return Arrays.stream(each).mapToLong(ms -> ms * MILLI).toArray();
    }

    private static Set<Integer> steps(int count) {
        Set<Integer> steps = new TreeSet<>();
        for (int i = 0; i < count; i++) {
            steps.add(i);
        }
        return steps;
    }

    @Test
    void within_roomForAll_takesAllThatCanBeDelegated() {
        Graph graph = chain(List.of(32, 32, 32, 32), List.of(1, 1, 1, 1));
        KernelSelection all = new KernelSelection(graph, millis(1, 1, 1, 1), steps(4));
        assertEquals(steps(4), all.within(all.mostBytes()).steps());
        KernelSelection some = new KernelSelection(graph, millis(1, 1, 1, 1), Set.of(0, 1, 3));
        assertEquals(Set.of(0, 1, 3), some.within(some.mostBytes()).steps());
        KernelSelection none = new KernelSelection(graph, millis(1, 1, 1, 1), Set.of());
        assertFalse(none.possible());
        assertEquals(Set.of(), none.within(1 << 20).steps());
    }

    @Test
    void selection_countsWeightsTensorsInsideAndTheArenaOfBorders() {
        Graph graph = chain(List.of(32, 64, 32, 32), List.of(5, 7, 11, 13));
        KernelSelection selection = new KernelSelection(graph, millis(1, 1, 1, 1), steps(4));
        Selection middle = selection.selection(ImmutableSortedSet.of(1, 2));
        long weights = (33 + 66) << 10;
        // The tensor of 7 KB is inside. The one of 5 KB comes in and the one of 11 KB goes out, at
        // different steps.
        assertEquals(weights, middle.weightBytes());
        assertEquals(weights + (7L << 10) + (11L << 10), middle.bytes());
        assertThrows(
                IllegalArgumentException.class,
                () -> selection.selection(ImmutableSortedSet.of(7)));
    }

    @Provide
    Arbitrary<List<List<Integer>>> chains() {
        // Multiples of 32, because packing adds one part in 32.
        return Arbitraries.integers()
                .between(0, 9)
                .list()
                .ofSize(3)
                .list()
                .ofMinSize(1)
                .ofMaxSize(9);
    }

    @Property(tries = 300)
    void within_anyChain_isAsGoodAsTheBestOfAllSubsets(
            @ForAll("chains") List<List<Integer>> chain,
            @ForAll @IntRange(min = 1, max = 40) int kilobytesPerUnit,
            @ForAll @Size(max = 3) Set<@IntRange(max = 8) Integer> notDelegable) {
        int count = chain.size();
        List<Integer> weights = new ArrayList<>();
        List<Integer> outputs = new ArrayList<>();
        Integer[] millis = new Integer[count];
        for (int i = 0; i < count; i++) {
            // Whole units, so that nothing is rounded.
            weights.add(chain.get(i).get(0) * 32 * kilobytesPerUnit);
            outputs.add(Math.max(1, chain.get(i).get(1)) * 33 * kilobytesPerUnit);
            millis[i] = chain.get(i).get(2);
        }
        Set<Integer> delegable = steps(count);
        delegable.removeAll(notDelegable);
        long bytes = 33L * kilobytesPerUnit * 1024 * UNITS / 32;
        KernelSelection selection =
                new KernelSelection(chain(weights, outputs), millis(millis), delegable);
        long best = 0;
        for (int set = 0; set < 1 << count; set++) {
            Set<Integer> subset = new TreeSet<>();
            for (int step = 0; step < count; step++) {
                if ((set >> step & 1) == 1) {
                    subset.add(step);
                }
            }
            if (delegable.containsAll(subset) && bytes(subset, weights, outputs) <= bytes) {
                best = Math.max(best, saved(subset, millis));
            }
        }
        Set<Integer> found = selection.within(bytes).steps();
        assertTrue(delegable.containsAll(found), found.toString());
        assertTrue(bytes(found, weights, outputs) <= bytes, found.toString());
        assertEquals(best, saved(found, millis), found.toString());
    }

    private static long bytes(Set<Integer> steps, List<Integer> weights, List<Integer> outputs) {
        long kilobytes = 0;
        for (int step : steps) {
            kilobytes += weights.get(step) / 32L * 33;
            kilobytes += steps.contains(step + 1) ? outputs.get(step) : 0;
        }
        return kilobytes << 10;
    }

    private static long saved(Set<Integer> steps, Integer[] millis) {
        long saved = 0;
        for (int step : steps) {
            saved += millis[step] * MILLI / 2;
            saved -= steps.contains(step - 1) ? 0 : NANOS_PER_RUN;
        }
        return saved;
    }
}
