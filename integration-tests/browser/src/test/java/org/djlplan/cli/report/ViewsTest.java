package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
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
            browser.show(view);
            assertTrue(browser.text("#view-" + view + " .empty code").startsWith("djlplan"), view);
        }
    }

    @Test
    void noTensors_areNoError() throws IOException {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(20));
        JsonObject plan = report.getAsJsonObject("plan");
        for (String list : List.of("operators", "tensors", "breadthBytes")) {
            plan.add(list, new JsonArray());
        }
        JsonObject strategy = MapPixels.strategy(plan, "naive");
        strategy.addProperty("totalBytes", 0);
        strategy.add("offsets", new JsonArray());
        plan.add("strategies", PlanData.GSON.toJsonTree(List.of(strategy)));
        browser.open(report, Browser.Look.WIDE_LIGHT);

        assertTrue(browser.findAll(".failure").isEmpty());
        assertTrue(browser.text(".details").contains("nothing to place"));
    }

    @Test
    void band_showsReasons() throws IOException {
        open("delegation", Browser.Look.WIDE_LIGHT);
        var band = browser.find("#view-delegation .chart");

        browser.actions().moveToElement(band, 3, 0).perform();
        String there = browser.text("#view-delegation .readout");
        assertTrue(there.startsWith("30 RESHAPE: CPU"), there);
        assertTrue(there.endsWith("unsupported: the delegate does not support it"), there);
        for (int i = 0; i < 3; i++) {
            band.sendKeys(Keys.ARROW_RIGHT);
        }
        String next = browser.text("#view-delegation .readout");
        assertEquals("33 CONV_2D: delegate, partition 2 – delegated", next);
    }

    @Test
    void delegation_rowsAndLoads_areShown() throws IOException {
        open("delegation", Browser.Look.WIDE_DARK);
        browser.unfold();

        List<String> rows = browser.texts("#view-delegation tbody tr");

        assertTrue(
                rows.contains("all19.3 ms8.84 ms10 ms19 MiBchosen, on the front"), rows.toString());
        assertTrue(rows.contains("landmarks3.00e-62.00e-70.001"), rows.toString());
        String front = "3 candidates of 4 on the front: no other is quicker and smaller";
        assertTrue(browser.text("#view-delegation").contains(front), front);
        assertEquals(List.of("memplan.threads=1"), browser.texts("#view-delegation code"));
    }

    @Test
    void everythingDelegated_hasNoKeyOfCpuKernels() throws IOException {
        JsonObject report = Parts.everything();
        JsonObject delegation = report.getAsJsonObject("delegation");
        for (JsonElement operator : delegation.getAsJsonArray("explanation")) {
            operator.getAsJsonObject().addProperty("delegated", true);
        }
        delegation.add("loads", new JsonObject());
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.show("delegation");

        String view = browser.text("#view-delegation");
        assertTrue(view.contains("A load finds this without options."), view);
        assertEquals(
                List.of("delegate", "a partition, with its number"),
                browser.texts("#view-delegation .panel:first-child .legend li"));
    }

    @Test
    void unknownOperators_haveNoColumn() throws IOException {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(20));
        JsonArray types = report.getAsJsonObject("plan").getAsJsonArray("operators");
        for (int i = 0; i < types.size(); i++) {
            types.set(i, PlanData.GSON.toJsonTree(""));
        }
        browser.open(report, Browser.Look.WIDE_LIGHT);
        browser.unfold();

        assertTrue(browser.text(".cards").contains("steps" + types.size()), browser.text(".cards"));
        List<String> heads = browser.texts(".tables th[scope=col]");
        assertFalse(heads.contains("Made by"), heads.toString());
        assertFalse(heads.contains("Operator"), heads.toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"WIDE_LIGHT", "NARROW_DARK"})
    void slider_showsEachBudget(Browser.Look look) throws IOException {
        open("budget", look);
        var slider = browser.find("#budget-slider");
        assertTrue(facts().contains("× 1.333 of stock (1.293 to 1.387)"), facts());

        slider.sendKeys(Keys.ARROW_RIGHT);
        assertTrue(browser.text(".budget-value").contains("4 MiB"));
        assertTrue(facts().contains("what bindsoperator 12: FULLY_CONNECTED"), facts());

        slider.sendKeys(Keys.HOME);
        assertTrue(facts().contains("operator 7 alone needs 2.4 MiB"), facts());
        assertEquals("× refused: 2MiB · 2 MiB", browser.text(".refused"));
        assertTrue(browser.text("#view-budget .empty").contains("not known"));
    }

    @Test
    void run_curvesAndFigures_areRead() throws IOException {
        open("run", Browser.Look.WIDE_LIGHT);
        String summary = browser.text(".columns .panel:nth-child(2) .readout");
        assertTrue(summary.startsWith("Peaks: stock"), summary);

        browser.findAll(".chart").get(1).sendKeys(Keys.ARROW_RIGHT);

        String read = browser.text(".columns .panel:nth-child(2) .readout");
        assertNotEquals(summary, read);
        assertTrue(read.startsWith("0 ns: stock 146 MiB"), read);
        List<String> rows = browser.texts("#view-run tbody tr");
        assertTrue(rows.contains("predictions200200"), rows.toString());
        assertTrue(rows.contains("page faults7\u202f8002\u202f700"), rows.toString());
    }

    @Test
    void models_haveOneScale() throws IOException {
        open("models", Browser.Look.WIDE_LIGHT);

        assertEquals(3, browser.findAll("#view-models .map").size());
        assertTrue(browser.text("#view-models p").contains("serves 3 models that take turns"));
    }

    @Test
    void tabs_areWalkedWithKeysAndInSight() throws IOException {
        browser.open(Parts.everything(), Browser.Look.NARROW_LIGHT);

        browser.find("#tab-map").sendKeys(Keys.ARROW_RIGHT);

        assertTrue(browser.find("#tab-delegation").isSelected());
        assertTrue(browser.find("#view-delegation").isDisplayed());
        assertFalse(browser.find("#view-map").isDisplayed(), "one view at a time");
        for (String view : List.of("workers", "models", "map")) {
            browser.show(view);
            browser.frames();
            var tab = browser.find("label:has(#tab-" + view + ")").getRect();
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
        browser.show(view);
    }

    private static String facts() {
        return browser.text(".budget-facts");
    }
}
