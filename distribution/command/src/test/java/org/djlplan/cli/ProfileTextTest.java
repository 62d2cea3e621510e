package org.djlplan.cli;

import static org.djlplan.cli.SampleTables.PARTITIONS;
import static org.djlplan.cli.SampleTables.measured;
import static org.djlplan.cli.SampleTables.union;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

class ProfileTextTest {

    private static final Map<String, String> FACTS =
            ImmutableMap.of("content", "12ab", "maxMemoryBytes", "67108864", "threads", "-1");

    @Test
    void of_everyKindOfEntry_hasALineEachFastestFirst() {
        assertEquals(
                """
                sketch: 12 operators, 3 partitions, at most 64.00 MiB, threads: the engine's own
                set           operators  kernels    latency      quartiles    memory         error
                2,3 of 3              5        1  40.000 ms  40.000–40.002  4.00 MiB       2.2e-6  chosen, Pareto front
                all                   9        1  60.000 ms  60.000–60.002  8.00 MiB       2.2e-6  TFLite's first 3
                1(0–1) of 3          2        1  88.000 ms  88.000–88.002  2.00 MiB       2.2e-6  Pareto front
                CPU kernels           0        0  90.000 ms  90.000–90.002  1.00 MiB             0  Pareto front
                1 of 3                4                                               more than any number and 3 steps  outputs differ: not used
                1,2 of 3              6                                                             crashed: SIGSEGV
                chosen: 2 of 3 partitions: 40 ms
                93 inferences in 4.2 s
                """
                        .replaceAll(" +", " "),
                ProfileText.of(SampleTables.graph(), FACTS, SampleTables.table())
                        .replaceAll(" +", " "));
    }

    @Test
    void of_anyTable_isAligned() {
        String text = ProfileText.of(SampleTables.graph(), FACTS, SampleTables.table());
        List<String> lines = text.lines().toList();
        int end = lines.get(1).indexOf("kernels") + "kernels".length();
        assertTrue(lines.get(2).startsWith("2,3 of 3  "), text);
        assertEquals("  1", lines.get(2).substring(end - 3, end), text);
        assertEquals("  0", lines.get(5).substring(end - 3, end), text);
    }

    @Test
    void of_severalThreads_haveAColumn() {
        ProfileTable table =
                new ProfileTable(
                        PARTITIONS,
                        List.of(measured(union(1, 2), 50, 0), measured(union(2, 2), 40, 0)),
                        union(2, 2),
                        "two",
                        9,
                        1);
        List<String> lines = ProfileText.of(SampleTables.graph(), Map.of(), table).lines().toList();
        assertTrue(lines.get(1).contains("threads"), lines::toString);
        assertTrue(lines.get(2).matches("2 of 3 +2 +2 +1 .*chosen.*"), lines::toString);
        assertTrue(lines.get(3).matches("2 of 3 +1 +2 +1 .*"), lines::toString);
        assertTrue(lines.get(3).contains(" – "), "memory is unknown: " + lines);
    }
}
