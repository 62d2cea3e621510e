package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import org.djlplan.cli.GeneratedPlans;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.openqa.selenium.Keys;

/** Tests a page that compares two reports. */
@Tag("browser")
class ComparisonTest {

    @RegisterExtension static final Browser browser = new Browser();

    static JsonObject of(JsonObject a, JsonObject b) {
        JsonArray reports = new JsonArray();
        reports.add(a);
        reports.add(b);
        JsonObject comparison = new JsonObject();
        comparison.addProperty("format", 1);
        comparison.add("reports", reports);
        return comparison;
    }

    @Test
    void figures_areBesideEachOther() throws IOException {
        JsonObject a = PlanData.report("before", GeneratedPlans.network(60));
        JsonObject b = PlanData.report("after", GeneratedPlans.network(90));
        browser.open(of(a, b), Browser.Look.WIDE_LIGHT);

        assertEquals(List.of("A: before", "B: after"), browser.texts(".compare h2"));
        assertTrue(
                browser.texts("tbody tr").contains("tensors6090× 1.500"),
                browser.texts("tbody tr").toString());
    }

    @Test
    void tensor_isSelectedInBoth() throws IOException {
        JsonObject a = PlanData.report("before", GeneratedPlans.network(60));
        JsonObject b = PlanData.report("after", GeneratedPlans.network(60));
        browser.open(of(a, b), Browser.Look.WIDE_DARK);

        browser.find(".map").sendKeys(Keys.ARROW_RIGHT);

        List<String> lines = browser.texts(".compare .readout");
        assertEquals(lines.get(0), lines.get(1));
        assertTrue(lines.get(0).contains("832 KiB"), lines.toString());
    }

    @Test
    void otherPlan_isShown() throws IOException {
        JsonObject a = PlanData.report("before", GeneratedPlans.network(60));
        browser.open(of(a, Parts.everything()), Browser.Look.NARROW_LIGHT);
        Object before = picture();

        browser.find(".compare select").sendKeys("naive");
        browser.frames();

        assertTrue(!before.equals(picture()), "the picture is the same");
    }

    private static Object picture() {
        return browser.run("return document.querySelector('.map canvas').toDataURL()");
    }
}
