package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class BenchPlannerCommandTest {

    @TempDir Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path csv;

    @BeforeEach
    void write() throws IOException {
        csv = Files.writeString(folder.resolve("paper.csv"), CommandTest.PAPER);
    }

    private int run(Object... arguments) {
        List<String> words = new ArrayList<>(List.of("bench-planner", "--warm-up", "1ms"));
        Arrays.stream(arguments).map(Object::toString).forEach(words::add);
        return DjlPlan.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(words.toArray(String[]::new));
    }

    private List<JsonObject> rows(String member) {
        List<JsonObject> rows = new ArrayList<>();
        JsonParser.parseString(out.toString())
                .getAsJsonObject()
                .getAsJsonArray(member)
                .forEach(row -> rows.add(row.getAsJsonObject()));
        return rows;
    }

    private static List<String> texts(List<JsonObject> rows, String member) {
        return rows.stream().map(row -> row.get(member).getAsString()).toList();
    }

    @Test
    void file_hasOneValidRowPerStrategyBesideTheBoundOfItsLayout() {
        assertEquals(0, run(csv, "--repeat", 1, "--json"), err::toString);
        List<JsonObject> rows = rows("results");
        List<String> names = texts(rows, "strategy");
        assertEquals(Set.copyOf(names).size(), rows.size());
        assertTrue(names.containsAll(List.of("naive", "exact-search", "shared-optimal")));
        for (JsonObject row : rows) {
            assertEquals("paper", row.get("instance").getAsString());
            assertEquals(8, row.get("units").getAsInt());
            assertTrue(row.get("valid").getAsBoolean(), row::toString);
            assertEquals(1, row.get("runs").getAsInt());
            long bound = row.get("layout").getAsString().equals("shared-objects") ? 128 : 124;
            double percent = 100.0 * (row.get("totalBytes").getAsLong() - bound) / bound;
            assertEquals(percent, row.get("percentAboveBound").getAsDouble(), 1e-9, row::toString);
        }
    }

    @Test
    void generated_hasEveryKindAndStrategy() {
        assertEquals(0, run("--units", "20,10", "--repeat", 1, "--json"), err::toString);
        List<JsonObject> results = rows("results");
        assertTrue(results.stream().allMatch(row -> row.get("valid").getAsBoolean()));
        assertEquals(Set.of("network", "training"), Set.copyOf(texts(results, "instance")));
        long ofNaive = texts(results, "strategy").stream().filter("naive"::equals).count();
        assertEquals(2 * 2, ofNaive);
    }

    @Test
    void largeProblem_hasRowsOfThoseThatAdmitItOnly() {
        assertEquals(0, run("--units", "2001", "--repeat", 1, "--json"), err::toString);
        List<String> strategies = texts(rows("results"), "strategy");
        assertTrue(strategies.contains("greedy-by-size"));
        assertFalse(strategies.contains("exact-search"));
        assertFalse(strategies.contains("shared-min-cost-flow"));
    }

    @Test
    void text_hasAColumnForEachFigure() {
        assertEquals(0, run(csv, "--repeat", 1), err::toString);
        List<String> lines = out.toString().lines().toList();
        assertTrue(
                lines.get(0)
                        .matches("instance +units +strategy +bytes +% > bound +median ms +runs"),
                lines.get(0));
        assertTrue(
                lines.get(1).matches("paper +8 +greedy-by-size +[0-9]+( +[0-9.]+){2} +1"),
                lines.get(1));
    }

    @ParameterizedTest
    @CsvSource({
        "--repeat 0, 'must be at least 1, not '",
        "--units 0, 'must be at least 1, not '",
        "--units 1000001, --units must be at most 1000000: 1000001",
        "paper.csv --units 10, '--units is for generated problems, not for files'",
        "paper.tflite, is no .csv file"
    })
    void wrongUsage_isExplainedInOneLine(String arguments, String problem) {
        assertEquals(2, run((Object[]) arguments.split(" ", -1)));
        assertEquals(1, err.toString().lines().count(), err::toString);
        assertTrue(err.toString().contains(problem), err::toString);
        assertEquals("", out.toString());
    }

    @Test
    void missingFile_isNamed() {
        assertEquals(1, run(folder.resolve("none.csv")));
        assertTrue(err.toString().contains("none.csv"), err::toString);
    }

    @ParameterizedTest
    @EnumSource
    void generatedProblem_isTheSameForTheSameSeed(GeneratedProblems kind) {
        List<UsageRecord> records = kind.problem(500, 7).units();
        assertEquals(500, records.size());
        assertEquals(records, kind.problem(500, 7).units());
        assertNotEquals(records, kind.problem(500, 8).units());
    }
}
