package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests pages of recorded allocations, which have sizes, times and operators but no shapes. */
@Tag("browser")
class RecordedPageTest {

    private static final PlanningProblem PROBLEM = GeneratedPlans.network(60);

    @RegisterExtension static final Browser browser = new Browser();

    /**
     * Returns a recording: convolutions make the even steps, operators without a name the odd ones.
     */
    private static JsonObject recorded(boolean named) {
        JsonObject report = PlanData.report("recorded", PROBLEM);
        report.getAsJsonObject("model").addProperty("view", "recording");
        JsonObject plan = report.getAsJsonObject("plan");
        JsonArray operators = new JsonArray();
        for (int step = 0; step < plan.getAsJsonArray("operators").size(); step++) {
            operators.add(named && step % 2 == 0 ? "aten::conv2d" : "");
        }
        plan.add("operators", operators);
        for (JsonElement each : plan.getAsJsonArray("tensors")) {
            JsonObject tensor = each.getAsJsonObject();
            List.of("shape", "type", "consumers", "producer").forEach(tensor::remove);
            int first = tensor.get("first").getAsInt();
            if (named && first % 2 == 0) {
                tensor.addProperty("producer", first);
            }
        }
        return report;
    }

    private static List<JsonObject> convolved(JsonObject report) {
        return report.getAsJsonObject("plan").getAsJsonArray("tensors").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(tensor -> tensor.has("producer"))
                .toList();
    }

    @Test
    void operators_ofEachAllocation_areFound() throws IOException {
        JsonObject report = recorded(true);
        JsonObject plan = report.getAsJsonObject("plan");
        browser.open(report, Browser.Look.WIDE_LIGHT);

        browser.find("#search").sendKeys("conv2d");
        assertTrue(
                browser.text(".found").startsWith(convolved(report).size() + " matches"),
                browser.text(".found"));
        browser.screenshot("recorded");
        browser.find("#search").clear();
        int index = -1;
        long most = 0;
        for (int i = 0; i < plan.getAsJsonArray("tensors").size(); i++) {
            JsonObject tensor = plan.getAsJsonArray("tensors").get(i).getAsJsonObject();
            if (tensor.has("producer") && tensor.get("bytes").getAsLong() > most) {
                most = tensor.get("bytes").getAsLong();
                index = i;
            }
        }
        JsonObject largest = plan.getAsJsonArray("tensors").get(index).getAsJsonObject();
        new MapPixels(browser, plan).hover(index, plan.get("best").getAsString());
        String tip = browser.text(".tip");
        assertTrue(tip.contains("shape not recorded"), tip);
        assertTrue(tip.endsWith("from " + largest.get("producer") + " aten::conv2d"), tip);
        assertTrue(browser.text(".cards").contains("steps"), browser.text(".cards"));
        List<String> alive = browser.texts(".alive-list .who");
        assertTrue(
                alive.stream().anyMatch(who -> who.startsWith("aten::conv2d ")), alive::toString);

        for (var summary : browser.findAll(".tables summary")) {
            summary.click();
        }
        browser.await("return document.querySelectorAll('.tables table').length === 3");
        Set<String> made =
                new HashSet<>(browser.texts(".tables details:first-child td:last-child"));
        assertEquals(Set.of("aten::conv2d", "–"), made);
        assertTrue(
                browser.texts(".tables details:last-child p").toString().contains("Others free"),
                browser.texts(".tables details:last-child p").toString());
    }

    @Test
    void operatorsUnknown_areLeftOut() throws IOException {
        browser.open(recorded(false), Browser.Look.NARROW_DARK);

        for (var summary : browser.findAll(".tables summary")) {
            summary.click();
        }
        browser.await("return document.querySelectorAll('.tables table').length === 3");

        List<String> heads = browser.texts(".tables th[scope=col]");
        assertTrue(heads.stream().noneMatch(head -> head.contains("Made by")), heads.toString());
        assertTrue(heads.stream().noneMatch(head -> head.contains("Operator")), heads.toString());
    }
}
