package org.djlplan.cli;

import static org.djlplan.cli.SampleTables.PARTITIONS;
import static org.djlplan.cli.SampleTables.closed;
import static org.djlplan.cli.SampleTables.union;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.OptionalInt;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class SetNamesTest {

    private final SetNames names = SetNames.of(SampleTables.graph(), PARTITIONS);

    @Test
    void name_unions_areListedFromOne() {
        assertEquals("CPU kernels", names.name(Candidate.cpu(1)));
        assertEquals("1,3 of 3", names.name(union(1, 1, 3)));
        assertEquals("all", names.name(union(1, 1, 2, 3)));
    }

    @Test
    void name_pieces_areNamedByTheirOperators() {
        assertEquals("1(1–2) of 3", names.name(new Candidate(closed(1, 2), 1)));
        assertEquals("1,2(5) of 3", names.name(new Candidate(closed(0, 5), 1)));
        assertEquals("1,2(5) of 3, transient", names.name(new Candidate(closed(0, 5), 1, true)));
        assertEquals("1(0,2–3) of 3", names.name(new Candidate(ImmutableSortedSet.of(0, 2, 3), 1)));
        SetNames one = SetNames.of(SampleTables.graph(), List.of(closed(0, 11)));
        assertEquals(
                "1(3 parts) of 1", one.name(new Candidate(ImmutableSortedSet.of(0, 2, 4, 5), 1)));
    }

    @Test
    void touched_piece_isOfItsPartition() {
        assertEquals(List.of(1, 2), names.touched(new Candidate(closed(2, 5), 1)));
        assertEquals(List.of(), names.touched(Candidate.cpu(1)));
    }

    @Test
    void firstN_rulesChoices_areRecognized() {
        assertEquals(OptionalInt.of(1), names.firstN(union(1, 1)));
        assertEquals(OptionalInt.of(2), names.firstN(union(1, 1, 3)));
        assertEquals(OptionalInt.of(3), names.firstN(union(1, 1, 2, 3)));
        assertEquals(OptionalInt.empty(), names.firstN(union(1, 2, 3)));
        assertEquals(OptionalInt.empty(), names.firstN(Candidate.cpu(1)));
    }

    @Test
    void firstN_constantOperator_doesNotMatter() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int weights = sketch.halfWeights(4);
        int sum = sketch.operator("ADD", List.of(4), input, weights);
        SetNames constant = SetNames.of(sketch.output(sum).build(), List.of(closed(0, 1)));
        assertEquals(OptionalInt.of(1), constant.firstN(new Candidate(closed(1, 1), 1)));
        assertEquals("all", constant.name(new Candidate(closed(1, 1), 1)));
    }
}
