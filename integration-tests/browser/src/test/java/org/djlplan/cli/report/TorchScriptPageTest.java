package org.djlplan.cli.report;

import static org.djlplan.cli.report.ModelPageTest.djlplan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

/**
 * Compares pages of {@code djlplan report} for TorchScript models, whose allocations are recorded,
 * with other commands' output. One model is a test resource; a real model is tested if it is
 * present.
 */
@Tag("browser")
class TorchScriptPageTest {

    /** Part of the convolutions' names, in models that old and new versions traced. */
    private static final String CONVOLUTION = "conv";

    private static final String THOUSANDS = "\\B(?=(\\d{3})+$)";

    @RegisterExtension static final Browser browser = new Browser();

    @TempDir Path folder;

    private record Model(Path file, String shape) {

        @Override
        public String toString() {
            return file.getFileName().toString();
        }
    }

    static List<Model> models() {
        Model own = new Model(Path.of("../src/test/resources/torchscript/cnn.pt"), "1,3,32,32");
        Model real = new Model(Path.of("../models/torchscript/squeezenet1_1.pt"), "1,3,224,224");
        if ("true".equals(System.getenv("DJLPLAN_REQUIRE_TORCH_MODELS"))) {
            assertTrue(Files.exists(real.file()), real.file() + " is not there");
        }
        return Stream.of(own, real).filter(model -> Files.exists(model.file())).toList();
    }

    @ParameterizedTest
    @MethodSource("models")
    void page_recording_showsItsAllocations(Model model) throws IOException {
        Path copy = Files.copy(model.file(), folder.resolve("model.pt"));
        Path page = folder.resolve("page.html");
        Path data = folder.resolve("data.json");
        String[] input = {copy.toString(), "--input-shape", model.shape()};
        djlplan(
                "report",
                input[0],
                input[1],
                input[2],
                "--time-limit",
                "0s",
                "--html",
                page.toString(),
                "--json",
                data.toString());
        JsonObject plan = object(Files.readString(data)).getAsJsonObject("plan");
        browser.open(Files.readString(page), Browser.Look.WIDE_LIGHT);
        browser.screenshot("model-" + model);

        assertRecordedAlike(
                plan,
                object(
                        djlplan(
                                "run",
                                "--json",
                                "--iterations",
                                "5",
                                input[0],
                                input[1],
                                input[2])));
        ShownPlan shown = new ShownPlan(browser);
        shown.assertIs(planned(plan), "Steps");
        assertOperatorsShown(plan, shown);
        assertFound(plan);
        assertOtherPlanShown(plan);
    }

    private static JsonObject object(String json) {
        return JsonParser.parseString(json).getAsJsonObject();
    }

    private static void assertRecordedAlike(JsonObject plan, JsonObject run) {
        // The outputs are in use during a run, but a plan leaves them out.
        for (String key : List.of("naiveBytes", "lowerBoundBytes")) {
            long planned = plan.get(key).getAsLong();
            assertEquals(run.get(key).getAsLong(), planned, .01 * planned, key);
        }
    }

    /** Returns the plan that {@code djlplan plan} makes of the same records. */
    private JsonObject planned(JsonObject plan) throws IOException {
        StringBuilder csv = new StringBuilder("id,lower,upper,size\n");
        for (JsonElement each : plan.getAsJsonArray("tensors")) {
            JsonObject tensor = each.getAsJsonObject();
            csv.append(tensor.get("name").getAsString().replace(' ', '-'))
                    .append(',')
                    .append(tensor.get("first").getAsInt())
                    .append(',')
                    .append(tensor.get("last").getAsInt())
                    .append(',')
                    .append(tensor.get("bytes").getAsLong())
                    .append('\n');
        }
        Path records = Files.writeString(folder.resolve("records.csv"), csv);
        return object(djlplan("plan", "--json", "--time-limit", "0s", records.toString()));
    }

    private static String operator(JsonObject plan, int tensor) {
        JsonObject made = plan.getAsJsonArray("tensors").get(tensor).getAsJsonObject();
        return plan.getAsJsonArray("operators").get(made.get("producer").getAsInt()).getAsString();
    }

    private static void assertOperatorsShown(JsonObject plan, ShownPlan shown) {
        List<String> made =
                IntStream.range(0, plan.getAsJsonArray("tensors").size())
                        .mapToObj(tensor -> operator(plan, tensor))
                        .toList();
        assertEquals(made, shown.rows("Tensors").stream().map(row -> row.get(7)).toList());
        Set<String> named =
                shown.rows("Steps").stream()
                        .map(row -> row.get(1))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(named.contains("aten::cat"), named::toString);
        assertTrue(named.contains("–"), "steps that free have no operator");
        assertEquals(
                "Memory map: allocations and frees across, addresses up",
                browser.find(".map canvas[tabindex]").getAttribute("aria-label"));
    }

    /** Searches for convolutions, and hovers over the largest tensor that one makes. */
    private static void assertFound(JsonObject plan) {
        List<Integer> convolved =
                IntStream.range(0, plan.getAsJsonArray("tensors").size())
                        .filter(tensor -> operator(plan, tensor).contains(CONVOLUTION))
                        .boxed()
                        .toList();

        browser.find("#search").sendKeys(CONVOLUTION);

        assertEquals(convolved.size() + " matches, Enter goes there", browser.text(".found"));
        browser.find("#search").sendKeys(Keys.ENTER);
        assertEquals("1 of " + convolved.size(), browser.text(".found"));
        assertTrue(browser.text(".tensor .facts").contains(CONVOLUTION));
        browser.find("#search").clear();
        browser.find("#fit-plans").click();
        int largest =
                largest(
                        plan,
                        convolved.stream().filter(i -> tensor(plan, i).has("shape")).toList());
        new MapPixels(browser, plan).hover(largest, plan.get("best").getAsString());
        assertTip(plan, largest);
    }

    private static int largest(JsonObject plan, List<Integer> tensors) {
        return tensors.stream()
                .max(
                        (a, b) ->
                                Long.compare(
                                        tensor(plan, a).get("bytes").getAsLong(),
                                        tensor(plan, b).get("bytes").getAsLong()))
                .orElseThrow();
    }

    private static JsonObject tensor(JsonObject plan, int index) {
        return plan.getAsJsonArray("tensors").get(index).getAsJsonObject();
    }

    private static void assertTip(JsonObject plan, int index) {
        JsonObject tensor = tensor(plan, index);
        String tip = browser.text(".tip");
        assertTrue(tip.startsWith(tensor.get("name").getAsString()), tip);
        assertTrue(tip.contains(shape(tensor)), tip);
        assertTrue(tip.contains("steps " + tensor.get("first") + "–" + tensor.get("last")), tip);
        assertTrue(
                tip.endsWith("from " + tensor.get("producer") + " " + operator(plan, index)), tip);
    }

    private static String shape(JsonObject tensor) {
        return tensor.has("shape")
                ? tensor.getAsJsonArray("shape").asList().stream()
                        .map(size -> size.getAsString().replaceAll(THOUSANDS, "\u202f"))
                        .collect(Collectors.joining(" × "))
                : "shape not recorded";
    }

    /** Switches to another plan, which may place tensors elsewhere or equal the first one. */
    private static void assertOtherPlanShown(JsonObject plan) {
        String best = plan.get("best").getAsString();
        String other =
                browser.findAll(".plan").stream()
                        .map(each -> each.findElement(By.cssSelector(".name")).getText())
                        .filter(name -> !name.equals(best))
                        .findFirst()
                        .orElseThrow();
        MapPixels map = new MapPixels(browser, plan);
        List<Integer> visible =
                IntStream.range(0, plan.getAsJsonArray("tensors").size())
                        .filter(tensor -> map.visible(tensor, other))
                        .boxed()
                        .toList();

        browser.findAll(".plan").stream()
                .filter(each -> each.findElement(By.cssSelector(".name")).getText().equals(other))
                .forEach(each -> each.click());
        browser.frames();

        assertTrue(browser.text("#live").startsWith("Plan " + other), browser.text("#live"));
        int largest = largest(plan, visible);
        map.hover(largest, other);
        assertTip(plan, largest);
    }
}
