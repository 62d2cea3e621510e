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
import java.util.function.Predicate;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UnitOrders;
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
    private static final UsageRecord LARGEST =
            PROBLEM.records().stream()
                    .max(Comparator.comparingLong(UsageRecord::bytes))
                    .orElseThrow();

    @RegisterExtension static final Browser browser = new Browser();

    @ParameterizedTest
    @EnumSource
    void hover_showsTensor(Browser.Look look) throws IOException {
        JsonObject report = REPORT.deepCopy();
        tensor(report, LARGEST).add("consumers", PlanData.GSON.toJsonTree(List.of(6, 7, 8, 9, 10)));
        browser.open(report, look);

        new MapPixels(browser, PLAN).hover(LARGEST.tensor(), BEST);

        String tip = assertTip(LARGEST);
        assertTrue(tip.contains("steps " + LARGEST.first() + "–" + LARGEST.last()), tip);
        assertTrue(tip.contains("832 KiB"), tip);
        assertTrue(tip.endsWith("used by 6 CONV_2D, 7 DEPTHWISE_CONV_2D, 8 ADD and 2 more"), tip);
    }

    @ParameterizedTest
    @EnumSource
    void click_keepsTensorAndLightsUpWhatOverlaps(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        MapPixels map = new MapPixels(browser, PLAN);
        Predicate<UsageRecord> overlaps = LARGEST::overlaps;
        UsageRecord beside = widest(overlaps.and(r -> !r.equals(LARGEST)));
        UsageRecord apart = widest(overlaps.negate());
        Object besideColour = map.colour(beside.tensor(), BEST);
        Object apartColour = map.colour(apart.tensor(), BEST);

        map.click(LARGEST.tensor(), BEST);

        assertEquals(name(LARGEST), browser.text(".tensor h2 .name"));
        String facts = browser.text(".tensor .facts");
        long overlapping = PROBLEM.records().stream().filter(overlaps).count() - 1;
        assertTrue(facts.contains("alive beside it" + overlapping + " tensors"), facts);
        assertTrue(browser.text("#live").contains(name(LARGEST)), browser.text("#live"));
        assertEquals(besideColour, map.colour(beside.tensor(), BEST));
        assertNotEquals(apartColour, map.colour(apart.tensor(), BEST));
        browser.screenshot("kept-" + look);
    }

    /** The list is beside the map or below it. */
    @ParameterizedTest
    @EnumSource(names = {"WIDE_LIGHT", "NARROW_LIGHT"})
    void peak_tensors_areListedLargestFirst(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        OperatorProfiles profiles = new OperatorProfiles(PROBLEM.records());
        int peak =
                profiles.breadthsAtStarts().entrySet().stream()
                        .filter(e -> e.getValue() == profiles.maximumBreadthBytes())
                        .findFirst()
                        .orElseThrow()
                        .getKey();

        List<String> alive = browser.texts(".alive-list .plan-size");

        assertTrue(browser.text(".alive h2").contains("peak step " + peak));
        List<String> sizes =
                PROBLEM.records().stream()
                        .filter(each -> each.first() <= peak && peak <= each.last())
                        .sorted(UnitOrders::bySize)
                        .map(each -> each.bytes() / 1024 + " KiB")
                        .toList();
        assertEquals(sizes, alive);
        assertTrue(browser.find(".details").getSize().getHeight() > 100);
    }

    /** A recording has operators, but a name and a shape of few allocations. */
    @Test
    void recording_showsOperators() throws IOException {
        JsonObject report = REPORT.deepCopy();
        report.getAsJsonObject("model").addProperty("view", "recording");
        tensor(report, LARGEST).remove("shape");
        browser.open(report, Browser.Look.WIDE_LIGHT);
        String operator = PLAN.getAsJsonArray("operators").get(LARGEST.first()).getAsString();

        browser.find("#search").sendKeys(operator);
        String found = browser.text(".found");
        browser.find("#search").clear();
        new MapPixels(browser, PLAN).hover(LARGEST.tensor(), BEST);
        browser.unfold();

        long made = PROBLEM.records().stream().filter(r -> name(r).contains(operator)).count();
        assertTrue(found.startsWith(made + " matches"), found);
        String tip = assertTip(LARGEST);
        assertTrue(tip.contains("shape not recorded"), tip);
        assertTrue(tip.endsWith("from " + LARGEST.first() + " " + operator), tip);
        assertTrue(browser.text(".alive-list .who").contains(operator));
        assertTrue(browser.text(".tables details:last-child p").contains("Others free memory"));
        assertEquals(
                "Memory map: allocations and frees across, addresses up",
                browser.find(".map").getAttribute("aria-label"));
    }

    @Test
    void stepsThatWereLeftOut_areCounted() throws IOException {
        JsonObject report = REPORT.deepCopy();
        JsonArray numbers = new JsonArray();
        for (int step = 0; step < PLAN.getAsJsonArray("operators").size(); step++) {
            numbers.add(10 * step);
        }
        report.getAsJsonObject("plan").add("stepNumbers", numbers);
        browser.open(report, Browser.Look.WIDE_LIGHT);

        new MapPixels(browser, PLAN).hover(LARGEST.tensor(), BEST);

        String steps = "steps " + 10 * LARGEST.first() + "–" + 10 * LARGEST.last();
        assertTrue(assertTip(LARGEST).contains(steps), browser.text(".tip"));
        assertTrue(browser.text(".alive h2").contains("step 530 "), browser.text(".alive h2"));
    }

    @ParameterizedTest
    @EnumSource(names = {"WIDE_LIGHT", "NARROW_DARK"})
    void otherPlan_isDrawnAtTheSameScale(Browser.Look look) throws IOException {
        browser.open(REPORT, look);
        MapPixels map = new MapPixels(browser, PLAN);
        UsageRecord tensor =
                widest(
                        r ->
                                !offset(r, BEST).equals(offset(r, "path-cover"))
                                        && map.visible(r.tensor(), "path-cover"));

        choose("path-cover");
        map.hover(tensor.tensor(), "path-cover");

        assertTip(tensor);
        assertTrue(browser.text("#live").contains("path-cover"), browser.text("#live"));
    }

    @Test
    void sharedObjects_areDrawnEndToEnd() throws IOException {
        JsonObject shared =
                PLAN.getAsJsonArray("strategies").asList().stream()
                        .map(JsonElement::getAsJsonObject)
                        .filter(each -> each.has("objects"))
                        .findFirst()
                        .orElseThrow();
        String name = shared.get("name").getAsString();
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);

        choose(name);
        map.fit(shared);
        Object objects = picture();
        map.click(LARGEST.tensor(), name);

        assertEquals(name(LARGEST), browser.text(".tensor h2 .name"));
        JsonObject without = REPORT.deepCopy();
        MapPixels.strategy(without.getAsJsonObject("plan"), name).remove("objects");
        browser.open(without, Browser.Look.WIDE_LIGHT);
        choose(name);
        new MapPixels(browser, PLAN).fit(shared);
        assertNotEquals(picture(), objects, "where objects end is not drawn");
    }

    @Test
    void alias_namesOwnerOfThePlace() throws IOException {
        JsonObject report = REPORT.deepCopy();
        UsageRecord other = PROBLEM.records().get(7);
        tensor(report, LARGEST).addProperty("alias", other.tensor());
        browser.open(report, Browser.Look.WIDE_LIGHT);

        new MapPixels(browser, PLAN).click(LARGEST.tensor(), BEST);

        String facts = browser.text(".tensor .facts");
        assertTrue(facts.contains("shares the place of" + name(other)), facts);
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
    void naivePlan_extendsAboveThePicture() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);

        choose("naive");

        UsageRecord low = widest(r -> map.visible(r.tensor(), "naive"));
        map.hover(low.tensor(), "naive");
        assertTip(low);
        Object part = picture();
        browser.find("#fit-all").click();
        browser.frames();
        assertNotEquals(part, picture());
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

    @Test
    void buttonAndWheel_zoomWhereExpected() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        MapPixels map = new MapPixels(browser, PLAN);

        browser.find("#zoom-in").click();
        browser.frames();
        map.zoomed(1 / 1.5);
        UsageRecord tensor = widest(r -> map.visible(r.tensor(), BEST));
        map.hover(tensor.tensor(), BEST);
        assertTip(tensor);

        Object before = picture();
        for (int i = 0; i < 4; i++) {
            map.wheel(tensor.tensor(), BEST, -200);
        }
        map.hover(tensor.tensor(), BEST);
        assertNotEquals(before, picture());
        assertTip(tensor);
    }

    @Test
    void drag_moves() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        browser.find("#zoom-in").click();
        browser.frames();
        Object before = picture();

        browser.actions()
                .moveToElement(new MapPixels(browser, PLAN).area())
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
        var map = browser.find(".map");

        map.sendKeys(Keys.ARROW_RIGHT);
        String first = browser.text("#live");
        assertTrue(first.contains(name(LARGEST)), first);
        map.sendKeys(Keys.ARROW_RIGHT);
        assertNotEquals(first, browser.text("#live"));
        map.sendKeys(Keys.ARROW_LEFT);
        assertEquals(first, browser.text("#live"));
        map.sendKeys(Keys.ARROW_UP);
        assertNotEquals(first, browser.text("#live"));

        Object before = picture();
        map.sendKeys("+");
        browser.frames();
        assertNotEquals(before, picture());
        map.sendKeys(Keys.ESCAPE);
        assertTrue(browser.findAll(".tensor").isEmpty());
        assertTrue(browser.text("#live").contains("alive"), browser.text("#live"));
    }

    @Test
    void table_hasTheNumbersOfTheData() throws IOException {
        browser.open(REPORT, Browser.Look.WIDE_LIGHT);
        UsageRecord tensor = PROBLEM.records().get(7);

        browser.unfold();

        List<String> cells = browser.texts(".tables details:first-child tr:nth-child(8) > *");
        assertEquals(name(tensor), cells.get(0));
        List<Long> numbers =
                List.of(
                        tensor.bytes(),
                        (long) tensor.first(),
                        (long) tensor.last(),
                        offset(tensor, BEST).getAsLong());
        assertEquals(
                numbers,
                cells.subList(2, 6).stream()
                        .map(cell -> Long.parseLong(cell.replace("\u202f", "")))
                        .toList());
        browser.find(".tables th:nth-child(3) button").click();
        assertEquals(name(LARGEST), browser.text(".tables tbody th"));
    }

    private static void choose(String strategy) {
        browser.findAll(".plan").stream()
                .filter(plan -> plan.getText().startsWith(strategy))
                .findFirst()
                .orElseThrow()
                .click();
        browser.frames();
    }

    /** Asserts that the tooltip shows a tensor, and returns its text. */
    private static String assertTip(UsageRecord tensor) {
        String tip = browser.text(".tip");
        assertTrue(tip.contains(name(tensor)), tip);
        return tip;
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

    /** Returns the tensor with the largest area, which no label or curve covers. */
    private static UsageRecord widest(Predicate<UsageRecord> keep) {
        return PROBLEM.records().stream()
                .filter(keep)
                .max(Comparator.comparingLong(r -> (r.last() - r.first() + 1) * r.bytes()))
                .orElseThrow();
    }

    private static JsonElement offset(UsageRecord tensor, String strategy) {
        return MapPixels.offsets(PLAN, strategy).get(tensor.tensor());
    }

    private static String name(UsageRecord tensor) {
        return tensor(REPORT, tensor).get("name").getAsString();
    }
}
