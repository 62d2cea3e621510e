package org.djlplan.memplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.cli.GeneratedPlans;
import org.djlplan.memplan.usage.PlanningProblem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How quick a page is with 20,000 rectangles, rendered without a graphics processor. */
@Tag("browser")
class SpeedTest {

    private static final int TENSORS = 20_000;
    private static final double MOST_MILLIS = 5000;
    private static final double LEAST_FRAMES_PER_SECOND = 10;

    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        browser = new Browser();
    }

    @AfterAll
    static void stop() throws IOException {
        browser.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"network", "training"})
    void manyRectangles_areQuick(String kind) throws IOException {
        PlanningProblem problem =
                kind.equals("network")
                        ? GeneratedPlans.network(TENSORS)
                        : GeneratedPlans.training(TENSORS);
        JsonObject report = PlanData.report(kind + " of 20,000 tensors", problem, 2);
        String html = ReportFile.html(report);

        browser.open(html, Browser.Look.WIDE_LIGHT);
        double first =
                number(
                        browser.run(
                                "return performance.getEntriesByName('memory map painted')[0]"
                                        + ".startTime"));
        Map<?, ?> frames = zoom();
        browser.screenshot("speed-" + kind);

        System.out.printf(
                "%s, %d rectangles, page of %.1f MB: first picture after %.0f ms;"
                        + " zooming: frame median %.1f ms, 95 %% %.1f ms, longest %.1f ms%n",
                kind,
                TENSORS,
                html.length() / 1e6,
                first,
                number(frames.get("median")),
                number(frames.get("late")),
                number(frames.get("longest")));
        assertEquals(true, frames.get("zoomed"));
        assertTrue(first <= MOST_MILLIS, first + " ms");
        assertTrue(1000 / number(frames.get("median")) >= LEAST_FRAMES_PER_SECOND);
        assertEquals(List.of(), browser.complaints());
    }

    @Test
    void thousandTensors_areAtMostTwoMegabytes() {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(1000));

        int bytes = ReportFile.html(report).getBytes(StandardCharsets.UTF_8).length;

        System.out.printf(
                "page of 1000 tensors and %d plans: %.2f MB%n",
                report.getAsJsonObject("plan").getAsJsonArray("strategies").size(), bytes / 1e6);
        assertTrue(bytes <= 2_000_000, bytes + " bytes");
    }

    /** One turn of the wheel in each frame: in, and out again. */
    private static Map<?, ?> zoom() {
        return (Map<?, ?>)
                browser.runAsync(
                        """
                        const done = arguments[0];
                        const canvas = document.querySelector('.map canvas[tabindex]');
                        const box = canvas.getBoundingClientRect();
                        const frames = [];
                        const picture = () => document.querySelector('.map canvas').toDataURL();
                        const before = picture();
                        let closest;
                        let last;
                        let turns = 0;
                        function turn(now) {
                          if (last !== undefined) frames.push(now - last);
                          last = now;
                          if (turns === 60) closest = picture();
                          if (turns++ === 120) return end();
                          canvas.dispatchEvent(new WheelEvent('wheel', {
                            deltaY: turns <= 60 ? -40 : 40, bubbles: true, cancelable: true,
                            clientX: box.left + box.width * .4, clientY: box.top + box.height * .7}));
                          requestAnimationFrame(turn);
                        }
                        function end() {
                          frames.sort((a, b) => a - b);
                          done({median: frames[60], late: frames[114], longest: frames[119],
                            zoomed: closest !== before});
                        }
                        requestAnimationFrame(turn);
                        """);
    }

    private static double number(Object value) {
        return ((Number) value).doubleValue();
    }
}
