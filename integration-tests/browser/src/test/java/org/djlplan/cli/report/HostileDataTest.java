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

    static List<String> names() {
        return NAMES;
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyText_isOnlyText(String name) throws IOException {
        JsonObject report = Parts.everything();
        replaceTexts(report, name);
        browser.open(report, Browser.Look.WIDE_LIGHT);

        var map = browser.find(".map");
        browser.actions().moveToElement(map).perform();
        map.sendKeys(Keys.ARROW_RIGHT);
        for (String view : AccessibilityTest.VIEWS) {
            browser.show(view);
            browser.unfold();
        }

        assertEquals(List.of(), browser.texts(".failure"));
        assertNull(browser.run("return window.attacked ?? null"));
        assertEquals(
                0L,
                browser.run(
                        "return document.querySelectorAll('img, iframe, object, embed, base,"
                                + " main script, main style, [onerror], main a').length"));
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

        browser.unfold();
        List<String> shown = browser.texts(".tables details:first-child tbody tr th");

        assertEquals(NAMES.get(0), shown.get(0));
        assertEquals("line·separator·and·new line·", shown.get(5));
        assertEquals("·right to left override", shown.get(6));
        assertEquals("without a name", shown.get(9));
        assertEquals(72, shown.get(8).length());
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

    @Test
    void damagedData_isOneError() throws IOException {
        String html = ReportFile.html(PlanData.report("network", GeneratedPlans.network(20)));
        int data = html.indexOf("id=\"data\"");
        int end = html.indexOf("</script>", data);
        browser.open(html.substring(0, data + 200) + html.substring(end), Browser.Look.NARROW_DARK);

        assertEquals(1, browser.findAll("[role=alert]").size());
        assertTrue(browser.text("[role=alert]").contains("may be damaged: SyntaxError"));
    }

    @Test
    void damagedPart_leavesOtherViews() throws IOException {
        JsonObject report = Parts.everything();
        report.add("budget", new JsonPrimitive("none"));
        report.getAsJsonObject("run").addProperty("ways", 3);
        browser.open(report, Browser.Look.WIDE_LIGHT);
        for (String view : AccessibilityTest.VIEWS) {
            browser.show(view);
        }

        assertEquals(1, browser.findAll("[role=alert]").size());
        assertEquals(1, browser.findAll("#view-run [role=alert]").size());
    }

    @Test
    void page_namesNoOtherPlace() {
        String html = ReportFile.html(Parts.everything());

        assertTrue(html.contains("default-src 'none'"));
        assertFalse(html.contains("unsafe-"));
        assertFalse(html.contains(" src="));
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
