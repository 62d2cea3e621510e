package org.djlplan.memplan.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderSearchTest {

    private static final int UNIT = 16;

    /** Branches whose first operators, each with a large output, come before the second ones. */
    private static Graph breadthFirst(int branches) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(UNIT);
        int stem = sketch.tensor(UNIT);
        sketch.operator("CONV_2D", stem, input);
        Integer[] ends = new Integer[branches];
        int[] wide = new int[branches];
        for (int i = 0; i < branches; i++) {
            wide[i] = sketch.tensor(8 * UNIT);
            sketch.operator("CONV_2D", wide[i], stem);
        }
        for (int i = 0; i < branches; i++) {
            ends[i] = sketch.tensor(UNIT);
            sketch.operator("CONV_2D", ends[i], wide[i]);
        }
        int joined = sketch.tensor(UNIT);
        sketch.operator("CONCATENATION", joined, ends);
        return sketch.output(joined).build();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 40})
    void of_breadthFirstBranches_executesEachBranchAtOnce(int branches) {
        OperatorOrder found = OrderSearch.of(breadthFirst(branches));
        // All wide tensors and one end; then one of them, the stem or its end, and other ends.
        assertEquals(64L * (8 * branches + 1), found.breadthBeforeBytes());
        assertEquals(64L * (8 + branches), found.breadthAfterBytes());
        assertTrue(found.minimal());
    }

    @Test
    void of_chain_staysAsItIsAndIsProved() {
        GraphSketch sketch = new GraphSketch();
        int last = sketch.input(UNIT);
        for (int i = 0; i < 20_000; i++) {
            int next = sketch.tensor(UNIT);
            sketch.operator("RELU", next, last);
            last = next;
        }
        OperatorOrder found = OrderSearch.of(sketch.output(last).build());
        assertFalse(found.changes());
        assertTrue(found.minimal());
        assertEquals(128, found.breadthAfterBytes());
    }

    @Test
    void of_noOperators_isEmpty() {
        assertEquals(
                new OperatorOrder(List.of(), 0, 0, true),
                OrderSearch.of(new GraphSketch().build()));
    }

    @Test
    void of_runTooLargeForTheSearch_isSearchedInParts() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(UNIT);
        for (int i = 0; i < 3000; i++) {
            int[] wide = {sketch.tensor(8 * UNIT), sketch.tensor(8 * UNIT)};
            sketch.operator("CONV_2D", wide[0], input);
            sketch.operator("CONV_2D", wide[1], input);
            for (int each : wide) {
                int narrow = sketch.tensor(UNIT);
                sketch.operator("CONV_2D", narrow, each);
                sketch.output(narrow);
            }
        }
        OperatorOrder found = OrderSearch.of(sketch.build());
        assertEquals(64L * 16, found.breadthBeforeBytes());
        assertEquals(64L * 8, found.breadthAfterBytes());
    }

    @Test
    void of_customOperators_keepTheirOrder() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(UNIT);
        int[] wide = {sketch.tensor(8 * UNIT), sketch.tensor(8 * UNIT)};
        sketch.operator("CUSTOM:a", wide[0], input).operator("CUSTOM:b", wide[1], input);
        for (int each : wide) {
            int narrow = sketch.tensor(UNIT);
            sketch.operator("CUSTOM:c", narrow, each).output(narrow);
        }
        OperatorOrder found = OrderSearch.of(sketch.build());
        assertEquals(List.of(0, 1, 2, 3), found.operators());
        assertTrue(found.minimal());
    }

    @Test
    void problems_effectsAndDataInAnotherOrder_areNamed() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(UNIT);
        int state = sketch.tensor(ElementType.FLOAT32, Storage.VARIABLE, UNIT);
        int one = sketch.tensor(UNIT);
        int two = sketch.tensor(UNIT);
        sketch.operator("SVDF", one, input, state);
        sketch.operator("RELU", two, one);
        sketch.operator("SVDF", sketch.tensor(UNIT), input, state);
        Graph graph = sketch.build();
        assertEquals(List.of(), OrderValidator.problems(graph, List.of(0, 2, 1)));
        assertEquals(
                List.of("operators with side effects are in another order"),
                OrderValidator.problems(graph, List.of(2, 0, 1)));
        assertEquals(
                List.of("tensor " + one + " is written and read in another order"),
                OrderValidator.problems(graph, List.of(1, 0, 2)));
        assertEquals(
                List.of("operator 0 twice or unknown"),
                OrderValidator.problems(graph, List.of(0, 0, 2)));
        assertEquals(
                List.of("2 operators in place of 3"),
                OrderValidator.problems(graph, List.of(0, 1)));
        assertThrows(
                IllegalArgumentException.class, () -> ReorderedGraphs.of(graph, List.of(1, 0, 2)));
    }
}
