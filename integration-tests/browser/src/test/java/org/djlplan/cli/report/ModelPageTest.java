package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.cli.DjlPlan;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * Compares pages of {@code djlplan report} with the output of {@code djlplan plan}, for a generated
 * model and for real models if they are present.
 */
@Tag("browser")
class ModelPageTest {

    private static final String BUILT = "MobileNetV2.tflite";
    private static final Path MODELS = Path.of("..", "models");
    private static final List<String> REAL =
            List.of("hand_landmark_full.tflite", "selfie_segmentation.tflite", "onet.tflite");

    /** Several rounds, because another process may have used the processors in the first. */
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

    /** Runs a command here, which must succeed, and returns what it prints. */
    static String djlplan(String... arguments) {
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
        new ShownPlan(browser).assertIs(plan(model), "Operators");
    }

    @Test
    void wrongNumbers_inAReport_areReported() throws IOException {
        Path model = model(BUILT);
        browser.open(page(model), Browser.Look.WIDE_LIGHT);
        ShownPlan shown = new ShownPlan(browser);
        for (String number : List.of("naiveBytes", "lowerBoundBytes", "records")) {
            JsonObject wrong = plan(model);
            wrong.addProperty(number, wrong.get(number).getAsLong() + 1);
            assertThrows(AssertionError.class, () -> shown.assertIs(wrong, "Operators"), number);
        }
        JsonObject wrong = plan(model);
        JsonObject last = wrong.getAsJsonArray("results").get(1).getAsJsonObject();
        last.addProperty("totalBytes", last.get("totalBytes").getAsLong() + 1);
        assertThrows(AssertionError.class, () -> shown.assertIs(wrong, "Operators"));
    }
}
