package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.CutRectangle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests {@code djlplan plan} on records for which only the exact search reaches the lower bound.
 */
class PlanCommandSearchTest extends CommandTest {

    private static final int OPTIMUM = 4096;

    private Path csv;

    @BeforeEach
    void write() throws IOException {
        StringBuilder text = new StringBuilder("id,lower,upper,size\n");
        for (UsageRecord r : new CutRectangle(30, OPTIMUM, 48, 1, 0, 0).records(0)) {
            text.append(r.tensor()).append(',').append(r.first()).append(',').append(r.last() + 1L);
            text.append(',').append(r.bytes()).append('\n');
        }
        csv = Files.writeString(folder.resolve("cut.csv"), text);
    }

    private int run(Object... options) {
        return execute(
                new PlanCommand(),
                Stream.of(List.of(options), List.of("--json", csv))
                        .flatMap(List::stream)
                        .toArray());
    }

    private JsonObject best() {
        return json().getAsJsonObject("best");
    }

    @Test
    void plan_everyStrategy_searchesForAProof() {
        assertEquals(0, run());
        assertEquals("exact-search", best().get("strategy").getAsString());
        assertEquals(OPTIMUM, best().get("totalBytes").getAsLong());
        assertTrue(best().get("valid").getAsBoolean());
        assertTrue(best().get("provedMinimal").getAsBoolean());
    }

    @Test
    void plan_noSearchTime_returnsStrategiesPlan() {
        assertEquals(0, run("--time-limit", "0s"));
        assertTrue(best().get("totalBytes").getAsLong() > OPTIMUM);
        assertFalse(best().get("provedMinimal").getAsBoolean());
    }

    @Test
    void plan_capacity_isSearchedFor() {
        assertEquals(
                0, run("--capacity", "4096", "--time-limit", "30s", "--strategy", "exact-search"));
        assertEquals(OPTIMUM, best().get("totalBytes").getAsLong());
    }

    @Test
    void plan_capacityBelowTheBound_fails() {
        assertEquals(1, run("--capacity", "4095"));
        assertTrue(err.toString().contains("more than the capacity of 4095"), err::toString);
    }

    @Test
    void plan_wrongTime_isAUsageError() {
        assertEquals(2, run("--time-limit", "soon"));
        assertTrue(err.toString().contains("is no time"), err::toString);
    }
}
