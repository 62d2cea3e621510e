package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import org.djlplan.cli.GeneratedPlans;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openqa.selenium.Keys;

/** Tests all views except the memory map. */
@Tag("browser")
class ViewsTest {

    @RegisterExtension static final Browser browser = new Browser();

    @Test
    void withoutData_eachView_namesItsSource() throws IOException {
        browser.open(
                PlanData.report("network", GeneratedPlans.network(20)), Browser.Look.WIDE_LIGHT);
        for (String view : AccessibilityTest.VIEWS.subList(1, 6)) {
            browser.find("#tab-" + view).click();
            assertTrue(browser.text("#view-" + view + " .empty code").startsWith("djlplan"), view);
        }
    }

    @Test
    void noTensors_areNoError() throws IOException {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(20));
        JsonObject plan = report.getAsJsonObject("plan");
        for (String list : List.of("operators", "tensors", "breadthBytes")) {
            plan.add(list, new com.google.gson.JsonArray());
        }
        JsonObject strategy = MapPixels.strategy(plan, "naive");
        strategy.addProperty("totalBytes", 0);
        strategy.add("offsets", new com.google.gson.JsonArray());
        plan.add("strategies", new com.google.gson.JsonArray());
        plan.getAsJsonArray("strategies").add(strategy);
        plan.remove("best");
        browser.open(report, Browser.Look.WIDE_LIGHT);

        assertTrue(browser.findAll(".failure").isEmpty());
        assertTrue(browser.text(".details").contains("nothing to place"));
    }

    @Test
    void band_showsReasons() throws IOException {
        open("delegation", Browser.Look.WIDE_LIGHT);
        var band = browser.find(".band canvas");

        browser.actions().moveToElement(band, 3, 0).perform();
        String there = browser.text(".band .readout");
        assertTrue(there.startsWith("30 RESHAPE: CPU"), there);
        assertTrue(there.endsWith("the delegate does not support it"), there);
        for (int i = 0; i < 3; i++) {
            band.sendKeys(Keys.ARROW_RIGHT);
        }
        String next = browser.text(".band .readout");
        assertTrue(next.startsWith("33 CONV_2D: delegate, partition 2, 90 µs"), next);
    }

    @Test
    void allDelegated_hasNoKeyOfOthers() throws IOException {
        JsonObject report = Parts.everything();
        for (var operator : report.getAsJsonObject("delegation").getAsJsonArray("operators")) {
            operator.getAsJsonObject().addProperty("runs", "delegate");
        }
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.find("#tab-delegation").click();

        List<String> keys = browser.texts("#view-delegation .panel:first-child .legend li");
        assertEquals(List.of("delegate", "a partition, with its number"), keys);
    }

    @Test
    void candidates_areInTheTable() throws IOException {
        open("delegation", Browser.Look.WIDE_DARK);
        browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))");
        browser.await("return document.querySelectorAll('#view-delegation table').length === 4");

        List<String> rows = browser.texts("#view-delegation tbody tr");

        assertTrue(
                rows.contains(
                        "all partitions19.3 ms8.84 ms10 ms19 MiBchosen, on the front, outputs"
                                + " compared"),
                rows.toString());
        assertTrue(rows.contains("landmarks3.00e-62.00e-70.001"), rows.toString());
    }

    private static void openDelegation(JsonObject report, List<?> candidates) throws IOException {
        report.getAsJsonObject("delegation")
                .add("candidates", PlanData.GSON.toJsonTree(candidates));
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.find("#tab-delegation").click();
        browser.frames();
    }

    @Test
    void loads_severalFacts_listsEachOption() throws IOException {
        open("delegation", Browser.Look.WIDE_LIGHT);

        assertEquals(
                List.of("memplan.threads=1", "memplan.threads", "delegation.maxMemory"),
                browser.texts("#view-delegation code"));
        JsonObject report = Parts.everything();
        report.getAsJsonObject("delegation").add("loads", new com.google.gson.JsonArray());
        report.getAsJsonObject("delegation").remove("measuredAnewBy");
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.find("#tab-delegation").click();
        assertTrue(
                browser.texts("#view-delegation p.quiet")
                        .contains("A load finds this without options."),
                browser.texts("#view-delegation p.quiet").toString());
    }

    @Test
    void front_oneCandidate_isASentence() throws IOException {
        List<?> candidates =
                PlanData.GSON.fromJson(
                        Parts.everything().getAsJsonObject("delegation").get("candidates"),
                        List.class);
        openDelegation(Parts.everything(), candidates.subList(3, 4));

        assertTrue(
                browser.texts("#view-delegation p")
                        .contains(
                                "One candidate was measured, so there is nothing to weigh: all"
                                        + " partitions, 1 thread takes 9.3 ms and 19 MiB."),
                browser.texts("#view-delegation p").toString());
        assertTrue(browser.findAll("#view-delegation .u-wrap").isEmpty(), "a plot");

        JsonObject report = Parts.everything();
        report.getAsJsonObject("delegation")
                .getAsJsonArray("candidates")
                .forEach(each -> each.getAsJsonObject().addProperty("pareto", false));
        report.getAsJsonObject("delegation")
                .getAsJsonArray("candidates")
                .get(3)
                .getAsJsonObject()
                .addProperty("pareto", true);
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.find("#tab-delegation").click();
        browser.frames();
        String text = browser.text("#view-delegation");
        assertTrue(
                text.contains(
                        "No other of 5 candidates is quicker or smaller than all partitions, 1"
                                + " thread, which is chosen."),
                text);
        assertTrue(!text.contains("Pareto front"), text);
        browser.screenshot("one-on-the-front");
    }

    @Test
    void study_text_hasSetsPartitionsAndTables() throws IOException {
        browser.open(Parts.study(), Browser.Look.WIDE_LIGHT);

        assertEquals("net", browser.text("#top h1"));
        List<String> readouts = browser.texts(".readout");
        assertEquals(
                List.of(
                        "The fastest is all with 40.5 ms, of 4 sets.",
                        "The delegate is quicker for 1 of 2."),
                readouts);
        browser.find(".chart").sendKeys(Keys.ARROW_RIGHT);
        assertEquals("CPU kernels: 90 ms", browser.text(".readout"));
        browser.find(".chart").sendKeys(Keys.ARROW_RIGHT);
        assertEquals("2 of 2: 60 ms", browser.text(".readout"));
        assertEquals(
                List.of("1", "4", "20.000 ms", "predicts best"), browser.texts("tbody tr > *"));
        JsonObject nothing = Parts.study();
        nothing.getAsJsonObject("study").add("sets", new com.google.gson.JsonArray());
        browser.open(nothing, Browser.Look.NARROW_DARK);
        assertTrue(browser.text(".empty").contains("No set of partitions was measured"));
        JsonObject damaged = Parts.study();
        damaged.getAsJsonObject("study").addProperty("sets", "many");
        browser.open(damaged, Browser.Look.WIDE_LIGHT);
        assertTrue(
                browser.text(".failure").contains("data.study.sets: expected a list"),
                browser.text(".failure"));
    }

    @Test
    void unknownValues_haveNoKeyAndNoColumn() throws IOException {
        JsonObject report = Parts.everything();
        JsonObject delegation = report.getAsJsonObject("delegation");
        for (var operator : delegation.getAsJsonArray("operators")) {
            operator.getAsJsonObject().remove("nanos");
        }
        for (var output : delegation.getAsJsonArray("outputs")) {
            output.getAsJsonObject().remove("noise");
        }
        for (var candidate : delegation.getAsJsonArray("candidates")) {
            candidate.getAsJsonObject().addProperty("verified", true);
        }
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.find("#tab-delegation").click();
        browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))");
        browser.await("return document.querySelectorAll('#view-delegation table').length === 4");

        String view = browser.text("#view-delegation");
        assertTrue(view.contains("difference from the CPU kernels"), view);
        assertFalse(view.contains("noise of the CPU kernels"), view);
        assertFalse(view.contains("Rings"), view);
        assertFalse(browser.texts("#view-delegation th").contains("Time"), view);
    }

    @Test
    void recordedAllocations_areNoOperators() throws IOException {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(20));
        report.getAsJsonObject("model").addProperty("view", "recording");
        JsonObject plan = report.getAsJsonObject("plan");
        com.google.gson.JsonArray types = new com.google.gson.JsonArray();
        plan.getAsJsonArray("operators").forEach(type -> types.add(""));
        plan.add("operators", types);
        browser.open(report, Browser.Look.WIDE_LIGHT);

        assertTrue(browser.text(".cards").contains("steps" + types.size()), browser.text(".cards"));
        assertEquals(
                "Memory map: allocations and frees across, addresses up",
                browser.find(".map canvas[tabindex]").getAttribute("aria-label"));
    }

    @ParameterizedTest
    @EnumSource
    void slider_showsEachBudget(Browser.Look look) throws IOException {
        open("budget", look);
        var slider = browser.find("#budget-slider");
        assertTrue(facts().contains("× 1.333 of stock (1.293 to 1.387)"), facts());
        assertTrue(facts().contains("the next MiB buys−10.9 % latency"), facts());

        slider.sendKeys(Keys.ARROW_RIGHT);
        assertTrue(browser.text(".budget-value").contains("4 MiB"));
        assertTrue(facts().contains("what bindsoperator 12: FULLY_CONNECTED"), facts());
        assertTrue(facts().contains("nothing that could be told from noise"), facts());

        slider.sendKeys(Keys.HOME);
        assertTrue(facts().contains("operator 7 alone needs 2.4 MiB"), facts());
        assertEquals("× refused: 2 MiB", browser.text(".refused"));
        assertTrue(browser.text("#view-budget .empty").contains("not known"));
    }

    @Test
    void curves_areReadWithKeys() throws IOException {
        open("run", Browser.Look.WIDE_LIGHT);
        browser.await("return document.querySelector('.chart canvas') !== null");
        String summary = browser.text(".columns .panel:nth-child(2) .readout");
        assertTrue(summary.startsWith("Peaks: stock"), summary);

        var chart = browser.findAll(".chart").get(1);
        chart.sendKeys(Keys.ARROW_RIGHT);

        String read = browser.text(".columns .panel:nth-child(2) .readout");
        assertNotEquals(summary, read);
        assertTrue(read.startsWith("0 ns: stock 146 MiB"), read);
    }

    @Test
    void runs_areInTheTable() throws IOException {
        open("run", Browser.Look.NARROW_LIGHT);

        List<String> rows = browser.texts("#view-run tbody tr");

        assertTrue(rows.contains("predictions200200200"), rows.toString());
        assertTrue(
                rows.contains(
                        "page faults7 8002 7003 600"
                                .replace(' ', '\u202f')
                                .replace("page\u202ffaults", "page faults")),
                rows.toString());
    }

    @Test
    void models_haveOneScale() throws IOException {
        open("models", Browser.Look.WIDE_LIGHT);

        assertEquals(3, browser.findAll("#view-models .map").size());
        assertTrue(browser.text("#view-models p").contains("One arena of 1.52 MiB"));
    }

    @Test
    void tabs_areWalkedWithKeys() throws IOException {
        browser.open(Parts.everything(), Browser.Look.WIDE_LIGHT);

        browser.find("#tab-map").sendKeys(Keys.ARROW_RIGHT);

        assertEquals("true", browser.find("#tab-delegation").getAttribute("aria-selected"));
        assertTrue(browser.find("#view-delegation").isDisplayed());
        assertTrue(!browser.find("#view-map").isDisplayed(), "one view at a time");
    }

    @Test
    void chosenTab_isInSight() throws IOException {
        browser.open(Parts.everything(), Browser.Look.NARROW_LIGHT);
        for (String view : List.of("workers", "models", "map")) {
            browser.run("document.getElementById(arguments[0]).click()", "tab-" + view);
            browser.frames();

            var tab = browser.find("#tab-" + view).getRect();
            assertTrue(tab.getX() >= 0 && tab.getX() + tab.getWidth() <= 420, view + tab.getX());
        }
    }

    @Test
    void licence_isInThePage() throws IOException {
        browser.open(Parts.everything(), Browser.Look.WIDE_LIGHT);

        assertTrue(browser.text("#licences").contains("Permission is hereby granted"));
    }

    private static void open(String view, Browser.Look look) throws IOException {
        browser.open(Parts.everything(), look);
        browser.find("#tab-" + view).click();
        browser.frames();
    }

    private static String facts() {
        return browser.text(".budget-facts");
    }
}
