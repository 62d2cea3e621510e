package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.greedy.GreedyBySize;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openqa.selenium.Keys;

/** Tests user actions on the memory map. */
@Tag("browser")
class MemoryMapTest {

    private static final PlanningProblem PROBLEM = GeneratedPlans.network(60);
    private static final JsonObject REPORT = PlanData.report("network", PROBLEM);
    private static final JsonObject PLAN = REPORT.getAsJsonObject("plan");
    private static final String BEST = PLAN.get("best").getAsString();

    @RegisterExtension static final Browser browser = new Browser();

    @ParameterizedTest
    @EnumSource
    void hover_showsTensor(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        browser.screenshot("map-" + look);
        UsageRecord tensor = largest();

        new MapPixels(browser, PLAN).hover(tensor.tensor(), BEST);

        String tip = browser.text(".tip");
        assertTrue(tip.contains(name(tensor)), tip);
        assertTrue(tip.contains("steps " + tensor.first() + "–" + tensor.last()), tip);
        assertTrue(tip.contains("832 KiB"), tip);
    }

    @ParameterizedTest
    @EnumSource
    void click_keepsTensorAndLightsUpWhatOverlaps(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        MapPixels map = new MapPixels(browser, PLAN);
        UsageRecord tensor = largest();
        List<UsageRecord> others =
                PROBLEM.records().stream().filter(r -> !r.equals(tensor)).toList();
        UsageRecord beside = widest(others.stream().filter(tensor::overlaps).toList());
        UsageRecord apart = widest(others.stream().filter(r -> !tensor.overlaps(r)).toList());
        Object besideColour = map.colour(beside.tensor(), BEST);
        Object apartColour = map.colour(apart.tensor(), BEST);

        map.click(tensor.tensor(), BEST);

        assertEquals(name(tensor), browser.text(".tensor h2 .name"));
        String facts = browser.text(".tensor .facts");
        long overlapping = others.stream().filter(tensor::overlaps).count();
        assertTrue(facts.contains("alive beside it" + overlapping + " tensors"), facts);
        assertTrue(browser.text("#live").contains(name(tensor)), browser.text("#live"));
        assertEquals(besideColour, map.colour(beside.tensor(), BEST));
        assertNotEquals(apartColour, map.colour(apart.tensor(), BEST));
        browser.screenshot("kept-" + look);
    }

    @Test
    void hover_namesConsumers() throws IOException {
        JsonObject report = REPORT.deepCopy();
        UsageRecord tensor = largest();
        tensor(report, tensor).add("consumers", PlanData.GSON.toJsonTree(List.of(6, 7, 8, 9, 10)));
        browser.open(report, Browser.Look.WIDE_LIGHT);

        new MapPixels(browser, PLAN).hover(tensor.tensor(), BEST);

        String tip = browser.text(".tip");
        String users = "used by 6 CONV_2D, 7 DEPTHWISE_CONV_2D, 8 ADD and 2 more";
        assertTrue(tip.endsWith(users), tip);
        tensor(report, tensor).add("consumers", PlanData.GSON.toJsonTree(List.of(11)));
        browser.open(report, Browser.Look.NARROW_DARK);
        new MapPixels(browser, PLAN).hover(tensor.tensor(), BEST);
        assertTrue(browser.text(".tip").endsWith("used by 11 RESHAPE"), browser.text(".tip"));
    }

    @Test
    void peak_tensors_areListedLargestFirst() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        OperatorProfiles profiles = new OperatorProfiles(PROBLEM.records());
        int peak =
                profiles.breadthsAtStarts().entrySet().stream()
                        .filter(e -> e.getValue() == profiles.maximumBreadthBytes())
                        .findFirst()
                        .orElseThrow()
                        .getKey();

        List<String> alive = browser.texts(".alive-list .plan-size");

        assertTrue(browser.text(".alive h2").contains("peak step " + peak));
        assertEquals(profiles.profileAt(peak).stream().map(MemoryMapTest::kib).toList(), alive);
    }

    /** The list is beside the map or below it. */
    @ParameterizedTest
    @EnumSource
    void aliveTensors_areVisible(Browser.Look look) throws IOException {
        browser.open(REPORT, look);

        int list = browser.find(".alive-list").getSize().getHeight();
        int panel = browser.find(".details").getSize().getHeight();
        assertTrue(panel > Math.min(list, 120), panel + " pixels of " + list);
    }

    @Test
    void bars_endAtTwiceTheBest() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);

        assertEquals("50%", share(".plan:has(input:checked) .bar"));
        assertEquals("100%", share(".bar.naive"));
        assertTrue(browser.find(".bar.naive").getAttribute("class").contains("goes-on"));
    }

    private static Object share(String bar) {
        return browser.run(
                "return document.querySelector(arguments[0]).style.getPropertyValue('--share')",
                bar);
    }

    @Test
    void stepsThatWereLeftOut_areCounted() throws IOException {
        JsonObject report = REPORT.deepCopy();
        JsonObject plan = report.getAsJsonObject("plan");
        JsonArray numbers = new JsonArray();
        for (int step = 0; step < plan.getAsJsonArray("operators").size(); step++) {
            numbers.add(10 * step);
        }
        plan.add("stepNumbers", numbers);
        browser.open(report, Browser.Look.WIDE_LIGHT);
        UsageRecord tensor = largest();

        new MapPixels(browser, plan).hover(tensor.tensor(), BEST);

        String steps = "steps " + 10 * tensor.first() + "–" + 10 * tensor.last();
        assertTrue(browser.text(".tip").contains(steps), browser.text(".tip"));
        assertTrue(browser.text(".alive h2").contains("step 530 "), browser.text(".alive h2"));
    }

    @ParameterizedTest
    @EnumSource(names = {"WIDE_LIGHT", "NARROW_DARK"})
    void otherPlan_isDrawnAtTheSameScale(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        MapPixels map = new MapPixels(browser, PLAN);
        UsageRecord tensor =
                widest(
                        PROBLEM.records().stream()
                                .filter(r -> !offset(r, BEST).equals(offset(r, "path-cover")))
                                .filter(r -> map.visible(r.tensor(), "path-cover"))
                                .toList());

        choose("path-cover");
        map.hover(tensor.tensor(), "path-cover");

        assertTrue(browser.text(".tip").contains(name(tensor)), browser.text(".tip"));
        assertTrue(browser.text("#live").contains("path-cover"), browser.text("#live"));
    }

    @Test
    void sharedObjects_areDrawnEndToEnd() throws IOException {
        JsonArray strategies = PLAN.getAsJsonArray("strategies");
        int index = 0;
        while (!strategies.get(index).getAsJsonObject().has("objects")) {
            index++;
        }
        JsonObject shared = strategies.get(index).getAsJsonObject();
        String name = shared.get("name").getAsString();
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);

        choose(index);
        fit(map, shared);
        Object objects = picture();
        UsageRecord tensor = largest();
        map.click(tensor.tensor(), name);

        assertEquals(name(tensor), browser.text(".tensor h2 .name"));
        assertTrue(browser.text(".legend").contains("temporaries"), browser.text(".legend"));
        JsonObject without = REPORT.deepCopy();
        MapPixels.strategy(without.getAsJsonObject("plan"), name).remove("objects");
        browser.open(without, Browser.Look.WIDE_LIGHT);
        choose(index);
        fit(new MapPixels(browser, PLAN), shared);
        assertNotEquals(picture(), objects, "where objects end is not drawn");
    }

    @Test
    void inPlacePlan_alias_namesOwnerOfThePlace() throws IOException {
        UsageRecord tensor = largest();
        UsageRecord written =
                widest(PROBLEM.records().stream().filter(r -> r.first() == tensor.last()).toList());
        PlanningProblem inPlace =
                new PlanningProblem(
                        PROBLEM.records(), List.of(List.of(tensor.tensor(), written.tensor())));
        OffsetPlan plan = new GreedyBySize().plan(inPlace);
        JsonObject report = REPORT.deepCopy();
        tensor(report, written).addProperty("alias", tensor.tensor());
        JsonObject strategy =
                add(
                        report,
                        "greedy-by-size+in-place",
                        plan.totalBytes(),
                        PROBLEM.records().stream().map(r -> plan.offsetOf(r.tensor())).toList());
        browser.open(report, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, report.getAsJsonObject("plan"));

        choose("greedy-by-size+in-place");
        fit(map, strategy);
        map.click(written.tensor(), "greedy-by-size+in-place");

        String facts = browser.text(".tensor .facts");
        assertEquals(name(written), browser.text(".tensor h2 .name"));
        assertTrue(facts.contains("shares the place of" + name(tensor)), facts);
    }

    @Test
    void badge_isThereWhereAPlanIsProvedMinimal() throws IOException {
        for (boolean proved : List.of(true, false)) {
            JsonObject report = REPORT.deepCopy();
            for (JsonElement each : report.getAsJsonObject("plan").getAsJsonArray("strategies")) {
                JsonObject strategy = each.getAsJsonObject();
                boolean best = strategy.get("name").getAsString().equals(BEST);
                strategy.addProperty("provedMinimal", proved && best);
            }
            browser.open(report, Browser.Look.WIDE_LIGHT);

            choose("path-cover");
            choose(BEST);

            List<String> expected = proved ? List.of("proved minimal") : List.of();
            assertEquals(expected, browser.texts(".cards .badge"));
            assertEquals(proved ? List.of("minimal") : List.of(), browser.texts(".plans .badge"));
            String told = browser.text("#live");
            assertEquals(proved, told.endsWith(", proved minimal"), told);
        }
    }

    @Test
    void boxes_switchBreadthAndGaps() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        UsageRecord early = widest(PROBLEM.records().stream().filter(r -> r.last() < 20).toList());
        new MapPixels(browser, PLAN).click(early.tensor(), BEST);
        Object all = picture();

        for (var box : browser.findAll(".check input")) {
            box.click();
            browser.frames();
            assertNotEquals(all, picture());
            box.click();
            browser.frames();
            assertEquals(all, picture());
        }
        assertEquals(List.of("Breadth", "Gaps"), browser.texts(".check"));
    }

    @Test
    void naivePlan_extendsAboveThePicture() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);
        UsageRecord low =
                PROBLEM.records().stream()
                        .filter(r -> map.visible(r.tensor(), "naive"))
                        .max(Comparator.comparingLong(UsageRecord::bytes))
                        .orElseThrow();

        choose("naive");
        map.hover(low.tensor(), "naive");

        assertTrue(browser.text(".tip").contains(name(low)), browser.text(".tip"));
        assertTrue(browser.find(".more").isDisplayed());
        browser.find(".more").click();
        assertTrue(browser.findAll(".more:not([hidden])").isEmpty());
    }

    @ParameterizedTest
    @EnumSource(names = {"WIDE_DARK", "NARROW_LIGHT"})
    void search_findsByPartOfTheName(Browser.Look look) throws IOException {
        browser.open(REPORT, look);

        browser.find("#search").sendKeys("RESHAPE");
        long expected = PROBLEM.records().stream().filter(r -> name(r).contains("RESHAPE")).count();
        assertTrue(browser.text(".found").startsWith(expected + " matches"));
        browser.find("#search").sendKeys(Keys.ENTER);

        assertEquals("1 of " + expected, browser.text(".found"));
        assertTrue(browser.text(".tensor h2").contains("RESHAPE"));
        browser.find("#search").clear();
        browser.find("#search").sendKeys("no such tensor");
        assertEquals("0 matches", browser.text(".found"));
    }

    @ParameterizedTest
    @EnumSource
    void buttons_zoom(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        MapPixels map = new MapPixels(browser, PLAN);

        browser.find("#zoom-in").click();
        map.zoomed(1 / 1.5);

        UsageRecord tensor =
                widest(
                        PROBLEM.records().stream()
                                .filter(r -> map.visible(r.tensor(), BEST))
                                .toList());
        map.hover(tensor.tensor(), BEST);
        assertTrue(browser.text(".tip").contains(name(tensor)), browser.text(".tip"));
        browser.screenshot("zoomed-" + look);
    }

    @Test
    void wheel_zoomsWhereThePointerIs() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);
        UsageRecord small =
                PROBLEM.records().stream()
                        .filter(r -> r.bytes() > 60_000 && r.first() > 5)
                        .min(Comparator.comparingLong(UsageRecord::bytes))
                        .orElseThrow();
        Object before = picture();

        for (int i = 0; i < 4; i++) {
            map.wheel(small.tensor(), BEST, -200);
        }
        map.hover(small.tensor(), BEST);

        assertNotEquals(before, picture());
        assertTrue(browser.text(".tip").contains(name(small)), browser.text(".tip"));
    }

    @Test
    void drag_moves() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        browser.find("#zoom-in").click();
        browser.frames();
        Object before = picture();

        MapPixels map = new MapPixels(browser, PLAN);
        browser.actions()
                .moveToElement(map.canvas())
                .clickAndHold()
                .moveByOffset(120, 40)
                .release()
                .perform();
        browser.frames();

        assertNotEquals(before, picture());
        assertTrue(browser.findAll(".tensor").isEmpty(), "a drag selects nothing");
    }

    @Test
    void keys_walkAndZoomAndLetGo() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);
        browser.run("arguments[0].focus()", map.canvas());

        map.canvas().sendKeys(Keys.ARROW_RIGHT);
        String first = browser.text("#live");
        assertTrue(first.contains(name(largest())), first);
        map.canvas().sendKeys(Keys.ARROW_RIGHT);
        String next = browser.text("#live");
        assertNotEquals(first, next);
        map.canvas().sendKeys(Keys.ARROW_LEFT);
        assertEquals(first, browser.text("#live"));
        map.canvas().sendKeys(Keys.ARROW_UP);
        assertNotEquals(first, browser.text("#live"));

        Object before = picture();
        map.canvas().sendKeys("+");
        browser.frames();
        assertNotEquals(before, picture());
        map.canvas().sendKeys(Keys.ESCAPE);
        assertTrue(browser.findAll(".tensor").isEmpty());
        assertTrue(browser.text("#live").contains("alive"), browser.text("#live"));
    }

    @Test
    void button_switchesColours() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        Object light = picture();

        browser.find("#theme").click();
        browser.frames();

        assertNotEquals(light, picture());
        assertEquals("Light", browser.text("#theme"));
    }

    @Test
    void table_hasTheNumbersOfTheData() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        UsageRecord tensor = PROBLEM.records().get(7);

        browser.find(".tables details:first-child summary").click();
        browser.await("return document.querySelector('.tables tbody tr') !== null");

        List<String> cells = browser.texts(".tables details:first-child tbody tr:nth-child(8) > *");
        assertEquals(name(tensor), cells.get(0));
        assertEquals(tensor.bytes(), number(cells.get(2)));
        assertEquals(tensor.first(), number(cells.get(3)));
        assertEquals(tensor.last(), number(cells.get(4)));
        assertEquals(MapPixels.offsets(PLAN, BEST).get(7).getAsLong(), number(cells.get(5)));
    }

    private static void choose(String strategy) {
        for (var plan : browser.findAll(".plan")) {
            if (plan.findElement(org.openqa.selenium.By.cssSelector(".name"))
                    .getText()
                    .equals(strategy)) {
                plan.click();
                browser.frames();
                return;
            }
        }
        throw new AssertionError("no plan " + strategy);
    }

    private static void choose(int index) {
        browser.findAll(".plan").get(index).click();
        browser.frames();
    }

    /** Fits the whole plan into the picture. */
    private static void fit(MapPixels map, JsonObject strategy) {
        map.canvas().sendKeys("0");
        browser.frames();
        map.fitted(strategy.get("totalBytes").getAsLong());
    }

    private static JsonObject add(
            JsonObject report, String name, long totalBytes, List<Long> offsets) {
        JsonObject strategy = new JsonObject();
        strategy.addProperty("name", name);
        strategy.addProperty("layout", "offsets");
        strategy.addProperty("totalBytes", totalBytes);
        strategy.add("offsets", numbers(offsets));
        report.getAsJsonObject("plan").getAsJsonArray("strategies").add(strategy);
        return strategy;
    }

    private static JsonElement numbers(List<?> numbers) {
        return PlanData.GSON.toJsonTree(numbers);
    }

    private static JsonObject tensor(JsonObject report, UsageRecord record) {
        return report.getAsJsonObject("plan")
                .getAsJsonArray("tensors")
                .get(record.tensor())
                .getAsJsonObject();
    }

    private static Object picture() {
        return browser.run("return document.querySelector('.map canvas').toDataURL()");
    }

    private static long number(String cell) {
        return Long.parseLong(cell.replace("\u202f", ""));
    }

    private static UsageRecord largest() {
        return PROBLEM.records().stream()
                .max(Comparator.comparingLong(UsageRecord::bytes))
                .orElseThrow();
    }

    /** Returns the tensor with the largest area, which no label or curve covers. */
    private static UsageRecord widest(List<UsageRecord> records) {
        return records.stream()
                .max(Comparator.comparingLong(r -> (r.last() - r.first() + 1) * r.bytes()))
                .orElseThrow();
    }

    private static JsonElement offset(UsageRecord tensor, String strategy) {
        return MapPixels.offsets(PLAN, strategy).get(tensor.tensor());
    }

    private static String name(UsageRecord tensor) {
        return PLAN.getAsJsonArray("tensors")
                .get(tensor.tensor())
                .getAsJsonObject()
                .get("name")
                .getAsString();
    }

    private static String kib(UsageRecord record) {
        return record.bytes() / 1024 + " KiB";
    }
}
