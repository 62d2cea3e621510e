package org.djlplan.memplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.djlplan.memplan.cli.DjlPlan;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * Pages that {@code djlplan report} makes of models, beside what {@code djlplan plan} prints: one
 * that is built here, and real ones where they are.
 */
@Tag("browser")
class ModelPageTest {

    private static final String BUILT = "MobileNetV2.tflite";
    private static final Path MODELS = Path.of("..", "models");
    private static final List<String> REAL =
            List.of("hand_landmark_full.tflite", "selfie_segmentation.tflite", "onet.tflite");

    /** The first of several, as something else may have had the processors. */
    private static final int ROUNDS = 5;

    private static final double MOST_MILLIS = 1000;

    @RegisterExtension static final Browser browser = new Browser();

    @TempDir Path folder;

    static List<String> models() {
        List<String> real =
                REAL.stream().filter(name -> Files.exists(MODELS.resolve(name))).toList();
        if ("true".equals(System.getenv("DJLPLAN_REQUIRE_MODELS"))) {
            assertEquals(REAL, real);
        }
        return Stream.concat(Stream.of(BUILT), real.stream()).toList();
    }

    private Path model(String name) throws IOException {
        Path copy = folder.resolve(name);
        if (name.equals(BUILT)) {
            TfLiteWriter.write(MobileNetV2.build(1), copy);
        } else {
            Files.copy(MODELS.resolve(name), copy);
        }
        return copy;
    }

    private static String djlplan(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = DjlPlan.commandLine();
        command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        assertEquals(0, command.execute(arguments), err::toString);
        return out.toString();
    }

    private String page(Path model) throws IOException {
        Path page = folder.resolve("page.html");
        djlplan(
                "report",
                model.toString(),
                "--view",
                "file",
                "--time-limit",
                "0s",
                "--html",
                page.toString());
        return Files.readString(page);
    }

    private static JsonObject plan(Path model) {
        String printed = djlplan("plan", model.toString(), "--json", "--time-limit", "0s");
        return JsonParser.parseString(printed).getAsJsonObject();
    }

    /** Holds what people read in the open page to what the plan command printed. */
    private static void assertShown(JsonObject plan) {
        Map<String, Long> planned = new TreeMap<>();
        for (JsonElement result : plan.getAsJsonArray("results")) {
            planned.put(
                    result.getAsJsonObject().get("strategy").getAsString(),
                    result.getAsJsonObject().get("totalBytes").getAsLong());
        }
        Map<String, Long> shown = new TreeMap<>();
        for (Object row : tableRows("Plans")) {
            List<?> cells = (List<?>) row;
            if (!cells.get(0).equals(PlanNames.REORDERED)) {
                shown.put((String) cells.get(0), number(cells.get(2)));
            }
        }
        assertEquals(planned, shown);
        long widest =
                tableRows("Operators").stream()
                        .mapToLong(row -> number(((List<?>) row).get(2)))
                        .max()
                        .orElse(0);
        assertEquals(plan.get("lowerBoundBytes").getAsLong(), widest);
        List<?> planRows =
                tableRows("Tensors").stream()
                        .filter(row -> !((List<?>) row).get(6).equals("inputs and outputs"))
                        .toList();
        assertEquals(plan.get("records").getAsLong(), planRows.size());
        assertEquals(
                plan.get("naiveBytes").getAsLong(),
                planRows.stream().mapToLong(row -> number(((List<?>) row).get(2))).sum());
        assertTrue(
                browser.text(".cards").contains(plan.get("records").getAsLong() + " tensors"),
                browser.text(".cards"));
        String best = plan.getAsJsonObject("best").get("strategy").getAsString();
        assertEquals(List.of(best), browser.texts(".plan:has(input:checked) .name"));
    }

    /** Returns the cells of all pages of a table that is folded until it is clicked. */
    private static List<?> tableRows(String caption) {
        return (List<?>)
                browser.runAsync(
                        """
                        const [caption, done] = arguments;
                        const folded = [...document.querySelectorAll('details')].find(
                          (each) => each.querySelector('summary').textContent.startsWith(caption + ':'));
                        folded.open = true;
                        setTimeout(() => {
                          const rows = [];
                          const read = () => folded.querySelectorAll('tbody tr').forEach(
                            (row) => rows.push([...row.children].map((cell) => cell.textContent)));
                          read();
                          const [, on] = folded.querySelectorAll('.pages button');
                          while (on && !on.disabled) {
                            on.click();
                            read();
                          }
                          done(rows);
                        });
                        """,
                        caption);
    }

    private static long number(Object cell) {
        return Long.parseLong(((String) cell).replace("\u202f", ""));
    }

    @ParameterizedTest
    @MethodSource("models")
    void page_hasTheNumbersOfThePlanCommand(String name) throws IOException {
        Path model = model(name);

        String html = page(model);

        double first = Double.MAX_VALUE;
        for (int i = 0; i < ROUNDS && first > MOST_MILLIS; i++) {
            browser.open(html, Browser.Look.WIDE_LIGHT);
            first = Math.min(first, SpeedTest.firstPictureMillis(browser));
        }
        browser.screenshot("model-" + name.replace(".tflite", ""));
        System.out.printf("%s: first picture after %.0f ms%n", name, first);
        assertTrue(first <= MOST_MILLIS, first + " ms");
        assertShown(plan(model));
    }

    @Test
    void wrongNumbers_areTold() throws IOException {
        Path model = model(BUILT);
        browser.open(page(model), Browser.Look.WIDE_LIGHT);
        for (String number : List.of("naiveBytes", "lowerBoundBytes", "records")) {
            JsonObject wrong = plan(model);
            wrong.addProperty(number, wrong.get(number).getAsLong() + 1);
            assertThrows(AssertionError.class, () -> assertShown(wrong), number);
        }
        JsonObject wrong = plan(model);
        JsonObject last = wrong.getAsJsonArray("results").get(1).getAsJsonObject();
        last.addProperty("totalBytes", last.get("totalBytes").getAsLong() + 1);
        assertThrows(AssertionError.class, () -> assertShown(wrong));
    }
}
