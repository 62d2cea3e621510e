package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.djlplan.delegation.internal.partition.Units.Unit;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.DiscreteDomain;
import org.djlplan.thirdparty.guava.collect.Range;
import org.junit.jupiter.api.Test;

class UnitsTest {

    /** Four convolutions; the second one's output has the fewest channels. */
    private static Graph hourglass() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 32, 32, 16);
        for (int channels : List.of(32, 4, 32, 16)) {
            tensor = sketch.conv(tensor, channels, 5);
        }
        return sketch.output(tensor).build();
    }

    private static Set<Integer> range(int first, int last) {
        return ContiguousSet.create(Range.closed(first, last), DiscreteDomain.integers());
    }

    @Test
    void cut_onePartition_isCutWhereFewestBytesCross() {
        List<Unit> units = Units.of(hourglass(), List.of(range(0, 3))).cut(2).all();
        assertEquals(
                List.of(range(0, 1), range(2, 3)), units.stream().map(Unit::operators).toList());
        assertEquals(List.of(0, 0), units.stream().map(Unit::partition).toList());
    }

    @Test
    void cut_intoNoMoreThanThereAre_changesNothing() {
        List<Set<Integer>> partitions = List.of(range(0, 1), range(3, 3));
        for (int count : new int[] {0, 1, 2}) {
            assertEquals(
                    partitions,
                    Units.of(hourglass(), partitions).cut(count).all().stream()
                            .map(Unit::operators)
                            .toList());
        }
    }

    @Test
    void operators_whenOtherOperatorsReadUnpackedWeights_leaveTheUnpackingToTheCpu() {
        GraphSketch sketch = new GraphSketch();
        int own = sketch.halfWeights(4, 3, 3, 4);
        int shared = sketch.halfWeights(4, 3, 3, 4);
        List<Integer> shape = List.of(1, 8, 8, 4);
        int first = sketch.operator("CONV_2D", shape, sketch.input(1, 8, 8, 4), own);
        int split = sketch.operator("SPLIT_V", shape, first);
        int second = sketch.operator("CONV_2D", shape, split, shared);
        int last = sketch.operator("ADD", shape, second, shared);
        Units units = Units.of(sketch.output(last).build(), List.of(Set.of(0, 1, 2), Set.of(4, 5)));
        assertEquals(Set.of(0, 2), units.operators(Set.of(0)));
        assertEquals(Set.of(1, 4, 5), units.operators(Set.of(1)));
        assertEquals(Set.of(0, 1, 2, 4, 5), units.operators(Set.of(0, 1)));
    }

    @Test
    void operators_ofWeightsUnpackedTwice_haveBothSteps() {
        GraphSketch sketch = new GraphSketch();
        int sparse = sketch.weights(4, 3, 3, 4);
        int dense = sketch.operator("DENSIFY", List.of(4, 3, 3, 4), sparse);
        int filter = sketch.operator("DEQUANTIZE", List.of(4, 3, 3, 4), dense);
        int input = sketch.input(1, 8, 8, 4);
        int result = sketch.operator("CONV_2D", List.of(1, 8, 8, 4), input, filter);
        Units units = Units.of(sketch.output(result).build(), List.of(Set.of(0, 1, 2)));
        assertEquals(Set.of(2), units.all().get(0).operators());
        assertEquals(Set.of(0, 1, 2), units.operators(Set.of(0)));
    }

    @Test
    void units_ofAPartitionOfUnpackingOnly_areNone() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(4, 3, 3, 4);
        int input = sketch.input(1, 8, 8, 4);
        int result = sketch.operator("CUSTOM:x", List.of(1, 8, 8, 4), input, filter);
        Units units = Units.of(sketch.output(result).build(), List.of(Set.of(0)));
        assertTrue(units.all().isEmpty());
        assertTrue(units.operators(Set.of()).isEmpty());
    }

    @Test
    void of_operatorsOutsideTheGraph_throws() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Units.of(hourglass(), List.of(range(0, 2), range(2, 3))));
        assertThrows(
                IndexOutOfBoundsException.class, () -> Units.of(hourglass(), List.of(range(0, 4))));
        Units units = Units.of(hourglass(), List.of(range(0, 3)));
        assertThrows(IndexOutOfBoundsException.class, () -> units.operators(Set.of(1)));
    }
}
