package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measures how fast pages are, rendered without a graphics processor. */
@Tag("browser")
class SpeedTest {

    /**
     * The required limit for the best of several rounds, because other processes may use the
     * processors.
     */
    private static final double MOST_MILLIS = 1000;

    private static final double LEAST_FRAMES_PER_SECOND = 30;
    private static final int ROUNDS = 5;

    @RegisterExtension static final Browser browser = new Browser();

    /** The measurements of one round. */
    private record Round(double firstMillis, double medianMillis, double lateMillis) {

        boolean isQuick() {
            return firstMillis <= MOST_MILLIS && 1000 / medianMillis >= LEAST_FRAMES_PER_SECOND;
        }
    }

    private static Round round(String html) throws IOException {
        browser.open(html, Browser.Look.WIDE_LIGHT);
        Object first =
                browser.run(
                        "return performance.getEntriesByName('memory map painted')[0].startTime");
        Map<?, ?> frames = zoom();
        assertEquals(true, frames.get("zoomed"));
        return new Round(number(first), number(frames.get("median")), number(frames.get("late")));
    }

    private static PlanningProblem problem(String kind, int tensors) {
        return kind.equals("network")
                ? GeneratedPlans.network(tensors)
                : GeneratedPlans.training(tensors);
    }

    @ParameterizedTest
    @CsvSource({"network, 1000", "training, 1000", "network, 20000", "training, 20000"})
    void page_isQuick(String kind, int tensors) throws IOException {
        String title = "%s of %,d tensors".formatted(kind, tensors);
        String html =
                ReportFile.html(
                        tensors <= 1000
                                ? PlanData.report(title, problem(kind, tensors))
                                : PlanData.report(title, problem(kind, tensors), "greedy-by-size"));
        List<Round> rounds = new ArrayList<>();
        while (rounds.size() < ROUNDS && rounds.stream().noneMatch(Round::isQuick)) {
            rounds.add(round(html));
        }
        browser.screenshot("speed-%s-%d".formatted(kind, tensors));

        System.out.printf(
                "%s, %d rectangles, page of %.1f MB: %s%n",
                kind, tensors, html.length() / 1e6, rounds);
        assertTrue(rounds.stream().anyMatch(Round::isQuick), rounds.toString());
    }

    @Test
    void thousandTensors_areAtMostOneMegabyte() {
        JsonObject report = PlanData.report("network", GeneratedPlans.network(1000));

        int bytes = ReportFile.html(report).getBytes(StandardCharsets.UTF_8).length;

        System.out.printf(
                "page of 1000 tensors and %d plans: %.2f MB%n",
                report.getAsJsonObject("plan").getAsJsonArray("strategies").size(), bytes / 1e6);
        assertTrue(bytes <= 1_000_000, bytes + " bytes");
    }

    /** Turns the wheel by one step in each frame, to zoom in and out again. */
    private static Map<?, ?> zoom() {
        return (Map<?, ?>)
                browser.runAsync(
                        """
                        const done = arguments[0];
                        const area = document.querySelector('.map .u-over');
                        const box = area.getBoundingClientRect();
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
                          area.dispatchEvent(new WheelEvent('wheel', {
                            deltaY: turns <= 60 ? -40 : 40, bubbles: true, cancelable: true,
                            clientX: box.left + box.width * .4, clientY: box.top + box.height * .7}));
                          requestAnimationFrame(turn);
                        }
                        function end() {
                          frames.sort((a, b) => a - b);
                          done({median: frames[60], late: frames[114],
                            zoomed: closest !== before});
                        }
                        requestAnimationFrame(turn);
                        """);
    }

    private static double number(Object value) {
        return ((Number) value).doubleValue();
    }
}
