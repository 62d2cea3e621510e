package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.djlplan.cli.GeneratedPlans;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openqa.selenium.Keys;

/** Tests names that attack the page, and data that was edited by hand. */
@Tag("browser")
class HostileDataTest {

    private static final String LONG = "very long/".repeat(1024);

    private static final List<String> NAMES =
            List.of(
                    "<script>window.attacked = 1</script>",
                    "</script><script>window.attacked = 2</script>",
                    "<!-- <script>",
                    "]]>\"'><img src=x onerror='window.attacked = 3'>",
                    "&lt;b&gt; &amp; {{data}} ${x} `",
                    "line\u2028separator\u2029and\nnew line\u0000",
                    "\u202eright to left override",
                    "שלום עולם/مرحبا",
                    LONG,
                    "",
                    "__proto__",
                    "constructor",
                    "javascript:window.attacked=4");

    @RegisterExtension static final Browser browser = new Browser();

    @ParameterizedTest
    @MethodSource("names")
    void everyText_isOnlyText(String name) throws IOException {
        JsonObject report = Parts.everything();
        replaceTexts(report, name);
        browser.open(report, Browser.Look.WIDE_LIGHT);

        var canvas = browser.find(".map canvas[tabindex]");
        browser.actions().moveToElement(canvas).perform();
        canvas.sendKeys(Keys.ARROW_RIGHT);
        for (String view : AccessibilityTest.VIEWS) {
            browser.find("#tab-" + view).click();
            browser.run(
                    "document.querySelectorAll('details').forEach((each) => (each.open = true))");
            browser.frames();
        }

        assertEquals(List.of(), browser.texts(".failure"));
        assertNull(browser.run("return window.attacked ?? null"));
        assertEquals(
                0L,
                browser.run(
                        "return document.querySelectorAll('img, iframe, object, embed, base,"
                                + " main script, main style, [onerror], main a').length"));
    }

    static List<String> names() {
        return NAMES;
    }

    @Test
    void names_areShownAsTheyAre() throws IOException {
        JsonObject report = PlanData.report("<b>title", GeneratedPlans.network(NAMES.size()));
        JsonArray tensors = report.getAsJsonObject("plan").getAsJsonArray("tensors");
        for (int i = 0; i < NAMES.size(); i++) {
            tensors.get(i).getAsJsonObject().addProperty("name", NAMES.get(i));
        }
        browser.open(report, Browser.Look.NARROW_LIGHT);
        assertEquals("<b>title", browser.text("h1"));

        browser.find(".tables details:first-child summary").click();
        browser.await("return document.querySelector('.tables tbody tr') !== null");
        List<String> shown = browser.texts(".tables tbody tr th");

        assertEquals(NAMES.get(0), shown.get(0));
        assertEquals("line·separator·and·new line·", shown.get(5));
        assertEquals("·right to left override", shown.get(6));
        assertEquals("without a name", shown.get(9));
        assertEquals(72, shown.get(8).length());
        assertEquals(
                "isolate",
                browser.find(".tables tbody tr:nth-child(8) bdi").getCssValue("unicode-bidi"));
        assertEquals(
                browser.run("return document.documentElement.clientWidth"),
                browser.run("return document.documentElement.scrollWidth"),
                "no name makes the page wider");
    }

    @Test
    void longName_isShownWhole() throws IOException {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(20));
        JsonArray tensors = report.getAsJsonObject("plan").getAsJsonArray("tensors");
        tensors.forEach(tensor -> tensor.getAsJsonObject().addProperty("name", LONG));
        browser.open(report, Browser.Look.WIDE_DARK);

        browser.find(".alive-list button").click();

        assertEquals("all 10\u202f240 characters", browser.text(".tensor .whole summary"));
        assertEquals(LONG, browser.text(".tensor .whole .name"));
    }

    static Stream<Map.Entry<String, Consumer<JsonObject>>> damages() {
        return Stream.of(
                damage("data.format: expected 1", data -> data.addProperty("format", 2)),
                damage("data.plan: expected an object", data -> data.remove("plan")),
                damage("data.plan: expected an object", data -> data.addProperty("plan", "no")),
                damage("plan.tensors[3].bytes", data -> tensor(data).addProperty("bytes", -1)),
                damage("plan.tensors[3].bytes", data -> tensor(data).addProperty("bytes", "9")),
                damage("plan.tensors[3].last", data -> tensor(data).addProperty("last", 100_000)),
                damage("plan.tensors[3].first", data -> tensor(data).addProperty("first", 1.5)),
                damage("plan.tensors[3].name", data -> tensor(data).remove("name")),
                damage("plan.tensors[3].alias", data -> tensor(data).addProperty("alias", 99)),
                damage(
                        "plan.breadthBytes: expected a list of",
                        data -> list(data, "breadthBytes").remove(0)),
                damage(
                        "plan.strategies: expected at least one",
                        data -> plan(data).add("strategies", new JsonArray())),
                damage(
                        "strategies[0].offsets: expected a list of 20",
                        data -> strategy(data).getAsJsonArray("offsets").remove(0)),
                damage(
                        "strategies[0].totalBytes",
                        data -> strategy(data).add("totalBytes", new JsonArray())),
                damage(
                        "plan.best: expected the name of a strategy",
                        data -> plan(data).addProperty("best", "none")),
                damage("data.run.ways: expected a list", data -> data.add("run", new JsonObject())),
                damage(
                        "data.memory[0].owner",
                        data -> data.add("memory", arrayOf(new JsonObject()))),
                damage(
                        "data.reports: expected two",
                        data -> data.add("reports", arrayOf(new JsonObject()))));
    }

    @ParameterizedTest
    @MethodSource("damages")
    void damagedData_isOneClearError(Map.Entry<String, Consumer<JsonObject>> damage)
            throws IOException {
        JsonObject data = PlanData.report("network", GeneratedPlans.network(20)).deepCopy();
        damage.getValue().accept(data);

        browser.open(data, Browser.Look.WIDE_LIGHT);

        assertEquals(1, browser.findAll("[role=alert]").size());
        String text = browser.text("[role=alert]");
        assertTrue(text.contains(damage.getKey()), text);
    }

    @Test
    void cutData_isOneClearError() throws IOException {
        String html = ReportFile.html(PlanData.report("network", GeneratedPlans.network(20)));
        int data = html.indexOf("id=\"data\"");
        int end = html.indexOf("</script>", data);
        browser.open(html.substring(0, data + 200) + html.substring(end), Browser.Look.NARROW_DARK);

        assertEquals(1, browser.findAll("[role=alert]").size());
        assertTrue(browser.text("[role=alert]").contains("not JSON"));
    }

    @Test
    void page_namesNoOtherPlace() {
        String html = ReportFile.html(Parts.everything());

        assertTrue(html.contains("default-src 'none'"));
        assertFalse(html.contains("unsafe-"));
        assertFalse(html.contains(" src="));
    }

    private static Map.Entry<String, Consumer<JsonObject>> damage(
            String told, Consumer<JsonObject> change) {
        return Map.entry(told, change);
    }

    private static JsonObject plan(JsonObject data) {
        return data.getAsJsonObject("plan");
    }

    private static JsonArray list(JsonObject data, String name) {
        return plan(data).getAsJsonArray(name);
    }

    private static JsonObject tensor(JsonObject data) {
        return list(data, "tensors").get(3).getAsJsonObject();
    }

    private static JsonObject strategy(JsonObject data) {
        return list(data, "strategies").get(0).getAsJsonObject();
    }

    private static JsonArray arrayOf(JsonElement element) {
        JsonArray array = new JsonArray();
        array.add(element);
        return array;
    }

    /** Replaces each text in the data by another one, except words that the format defines. */
    private static void replaceTexts(JsonElement element, String text) {
        if (element instanceof JsonArray array) {
            for (int i = 0; i < array.size(); i++) {
                if (isText(array.get(i))) {
                    array.set(i, new JsonPrimitive(text));
                } else {
                    replaceTexts(array.get(i), text);
                }
            }
        } else if (element instanceof JsonObject object) {
            for (String key : List.copyOf(object.keySet())) {
                if (!isText(object.get(key))) {
                    replaceTexts(object.get(key), text);
                } else if (!key.equals("layout")) {
                    object.addProperty(key, text);
                }
            }
        }
    }

    private static boolean isText(JsonElement element) {
        return element.isJsonPrimitive() && element.getAsJsonPrimitive().isString();
    }
}
