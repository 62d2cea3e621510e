package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.junit.jupiter.api.Test;

class ExplainedRecipesTest {

    private static final long MIB = 1 << 20;

    private static Entry measured(Candidate candidate, long millis, long mebibytes) {
        Latency latency = Latency.of(new long[] {millis * 1_000_000});
        return new Entry.Measured(candidate, 0, latency, mebibytes * MIB, List.of());
    }

    private static Candidate recipe(String name) {
        return Candidate.ofRecipe(name, 1);
    }

    @Test
    void table_eachCandidate_hasAReason() {
        ProfileTable table =
                new ProfileTable(
                        List.of(),
                        List.of(
                                measured(Candidate.cpu(1), 100, 50),
                                measured(recipe("optimized"), 50, 60),
                                measured(recipe("fused"), 45, 300),
                                new Entry.Failed(recipe("broken"), Kind.REFUSED, "no shapes")),
                        recipe("optimized"),
                        "twice as fast",
                        10,
                        1);

        assertEquals(
                List.of(
                        List.of("candidate", ""),
                        List.of(
                                "fused",
                                "10 % faster than the chosen one, but takes 240.00 MiB more"),
                        List.of("optimized", "chosen: twice as fast"),
                        List.of("stock", "100 % slower than the chosen one"),
                        List.of("broken", "refused: no shapes")),
                ExplainedRecipes.of(table).table().rows());
    }
}
