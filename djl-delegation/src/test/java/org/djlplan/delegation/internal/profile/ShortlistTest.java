package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.djlplan.delegation.internal.partition.PieceGraph;
import org.djlplan.delegation.internal.profile.Shortlist.Union;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.junit.jupiter.api.Test;

class ShortlistTest {

    private static PieceGraph chain(int partitions) {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 4, 4, 4);
        List<Set<Integer>> sets = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            sets.add(Set.of(sketch.operators()));
            tensor = sketch.conv(tensor, 4, 1);
            tensor = sketch.operator("CUSTOM", List.of(1, 4, 4, 4), tensor);
        }
        return PieceGraph.of(sketch.output(tensor).build(), sets, 1);
    }

    @Test
    void best_ofFewPieces_isTheBestOfAll() {
        List<Union> best =
                Shortlist.best(chain(5), 32, union -> Math.abs(union.pieces().hashCode() - 7));

        assertEquals(32, best.size());
        assertEquals(7, best.get(0).pieces().hashCode());
        assertEquals(best.get(0).pieces().size(), best.get(0).kernels());
    }

    @Test
    void best_ofManyPieces_findsTheBestOfNeighbourlyCosts() {
        Random random = new Random(1);
        double[] gain = random.doubles(30, -1, 1).toArray();
        Set<Integer> wanted = new HashSet<>();
        for (int piece = 0; piece < gain.length; piece++) {
            if (gain[piece] > 0.1) {
                wanted.add(piece);
            }
        }

        List<Union> best =
                Shortlist.best(
                        chain(30),
                        3,
                        union ->
                                union.kernels() * 0.1
                                        - union.pieces().stream()
                                                .mapToDouble(piece -> gain[piece])
                                                .sum());

        assertEquals(wanted, best.get(0).pieces());
        assertEquals(3, best.size());
        assertEquals(1, Sets.symmetricDifference(wanted, best.get(1).pieces()).size());
    }
}
