package org.djlplan.memplan.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Collections2;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecords;

/** The search against all orders of small graphs, and its promises on larger ones. */
class OrderSearchPropertyTest {

    @Provide
    Arbitrary<Graph> small() {
        return RandomGraphs.of(1, 7);
    }

    @Provide
    Arbitrary<Graph> large() {
        return RandomGraphs.of(8, 60);
    }

    private static long breadth(Graph graph) {
        return LowerBounds.offsetBytes(UsageRecords.of(graph));
    }

    private static List<Integer> asItStands(Graph graph) {
        return IntStream.range(0, graph.operators().size()).boxed().toList();
    }

    @Property(tries = 250)
    void of_smallGraph_isTheBestOfAllOrders(@ForAll("small") Graph graph) {
        long best =
                Collections2.permutations(asItStands(graph)).stream()
                        .filter(order -> OrderValidator.problems(graph, order).isEmpty())
                        .mapToLong(order -> breadth(ReorderedGraphs.of(graph, order)))
                        .min()
                        .orElseThrow();
        OperatorOrder found = OrderSearch.of(graph);
        assertEquals(best, found.breadthAfterBytes());
        assertTrue(found.minimal());
    }

    @Property(tries = 200)
    void of_largerGraph_keepsItsPromises(@ForAll("large") Graph graph) {
        OperatorOrder found = OrderSearch.of(graph);
        assertEquals(List.of(), OrderValidator.problems(graph, found.operators()));
        Graph reordered = ReorderedGraphs.of(graph, found.operators());
        assertEquals(breadth(graph), found.breadthBeforeBytes());
        assertEquals(breadth(reordered), found.breadthAfterBytes());
        assertEquals(found.changes(), found.breadthAfterBytes() < found.breadthBeforeBytes());
        assertEquals(found, OrderSearch.of(graph));
    }

    @Property(tries = 200)
    void of_reorderedGraph_findsNothingBetter(@ForAll("large") Graph graph) {
        OperatorOrder found = OrderSearch.of(graph);
        OperatorOrder again = OrderSearch.of(ReorderedGraphs.of(graph, found.operators()));
        if (found.minimal()) {
            assertFalse(again.changes());
        }
        if (again.minimal()) {
            assertTrue(again.breadthAfterBytes() <= found.breadthAfterBytes());
        }
    }
}
