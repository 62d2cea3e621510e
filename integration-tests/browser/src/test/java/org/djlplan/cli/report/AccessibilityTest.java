package org.djlplan.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.thirdparty.guava.io.Resources;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the WCAG A and AA rules that axe can check, on every view with all tables open. */
@Tag("browser")
class AccessibilityTest {

    static final List<String> VIEWS =
            List.of("map", "delegation", "budget", "run", "models", "workers");

    private static final String AXE = axe();

    @RegisterExtension static final Browser browser = new Browser();

    static Stream<Arguments> viewsInEachLook() {
        return VIEWS.stream()
                .flatMap(
                        view ->
                                Stream.of(Browser.Look.values())
                                        .map(look -> Arguments.of(view, look)));
    }

    @ParameterizedTest
    @MethodSource("viewsInEachLook")
    void view_isAccessible(String view, Browser.Look look) throws IOException {
        browser.open(Parts.everything(), look);
        browser.show(view);

        assertEquals(List.of(), violations());
        browser.screenshot(view + "-" + look);
    }

    @ParameterizedTest
    @EnumSource(names = {"WIDE_LIGHT", "NARROW_DARK"})
    void viewsWithoutData_areAccessible(Browser.Look look) throws IOException {
        browser.open(PlanData.report("network", GeneratedPlans.network(20)), look);
        for (String view : VIEWS) {
            browser.show(view);
            assertEquals(List.of(), violations(), view);
        }
    }

    @ParameterizedTest
    @EnumSource
    void damagedData_isAccessible(Browser.Look look) throws IOException {
        JsonObject nothing = new JsonObject();
        nothing.addProperty("format", 1);
        browser.open(nothing, look);

        assertEquals(List.of(), violations());
    }

    /**
     * Opens everything that can be opened, and returns axe's findings. Clears the console of axe's
     * own warning about reading a canvas.
     */
    private static List<?> violations() {
        browser.unfold();
        assertEquals(List.of(), browser.complaints());
        browser.run(AXE);
        List<?> violations =
                (List<?>)
                        browser.runAsync(
                                "const done = arguments[0];axe.run({runOnly: ['wcag2a', 'wcag2aa',"
                                        + " 'wcag21a', 'wcag21aa']}).then((found) =>"
                                        + " done(found.violations.map((each) => each.id + ': ' +"
                                        + " each.nodes.slice(0, 3).map((node) => node.html + ' ' +"
                                        + " node.failureSummary).join(' | '))), (error) =>"
                                        + " done([String(error)]))");
        List<String> unused = browser.complaints();
        return violations;
    }

    private static String axe() {
        try {
            Properties properties = new Properties();
            String pom = "META-INF/maven/org.webjars.npm/axe-core/pom.properties";
            try (var stream = Resources.getResource(pom).openStream()) {
                properties.load(stream);
            }
            String version = properties.getProperty("version");
            return Resources.toString(
                    Resources.getResource(
                            "META-INF/resources/webjars/axe-core/" + version + "/axe.min.js"),
                    UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
