package org.djlplan.integration.pool;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Draws the memory of several applications during a minute of predictions, one panel for each. */
final class FirstMinute {

    private static final int WIDTH = 900;
    private static final int PANEL = 170;
    private static final int LEFT = 60;
    private static final int TOP = 24;
    private static final int HEIGHT = 120;
    private static final double SECONDS = 60;

    /** The scale is logarithmic, from 1 to 1000 ms. */
    private static final double DECADES = 3;

    private FirstMinute() {}

    /** Returns a text of what serves: origin, operators in the delegate, threads. */
    static String phase(String served) {
        String[] parts = served.split(" ", -1);
        String threads = parts[2].equals("-1") ? "the engine's threads" : "threads: " + parts[2];
        return parts[0].equals("stock")
                ? "stock"
                : "%s, %s operators delegated, %s".formatted(parts[0], parts[1], threads);
    }

    private static String colour(String served) {
        if (served.startsWith("stock") || served.startsWith("UNVERIFIED")) {
            return "#888888";
        }
        return served.endsWith(" 1") ? "#1f77b4" : "#d62728";
    }

    /**
     * @param panels by title: for each prediction its end in seconds, its milliseconds, and what
     *     served it
     */
    static String svg(Map<String, List<String>> panels) {
        StringBuilder svg = new StringBuilder();
        append(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
                WIDTH,
                PANEL * panels.size() + TOP);
        int top = TOP;
        for (Map.Entry<String, List<String>> panel : panels.entrySet()) {
            draw(svg, top, panel.getKey(), panel.getValue());
            top += PANEL;
        }
        append(
                svg,
                "<text x=\"%d\" y=\"%d\">seconds; milliseconds of each prediction; grey: CPU"
                        + " kernels, blue: delegated with one thread, red: with more</text>%n</svg>%n",
                LEFT,
                PANEL * panels.size() + TOP - 8);
        return svg.toString();
    }

    private static void draw(StringBuilder svg, int top, String title, List<String> lines) {
        append(svg, "<text x=\"%d\" y=\"%d\">%s</text>%n", LEFT, top - 6, title);
        for (int decade = 0; decade <= DECADES; decade++) {
            double y = top + HEIGHT * (1 - decade / DECADES);
            append(
                    svg,
                    "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/>"
                            + "<text x=\"8\" y=\"%.1f\">%.0f</text>%n",
                    LEFT,
                    y,
                    WIDTH - 10,
                    y + 4,
                    Math.pow(10, decade));
        }
        for (int second = 0; second <= SECONDS; second += 10) {
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>%n",
                    x(second),
                    top + HEIGHT + 14,
                    second);
        }
        // Points at the same place are drawn once, because there are ten thousand.
        Set<String> drawn = new LinkedHashSet<>();
        for (String line : lines) {
            String[] parts = line.split(" ", 3);
            double millis = Math.max(1, Math.min(1000, Double.parseDouble(parts[1])));
            double y = top + HEIGHT * (1 - Math.log10(millis) / DECADES);
            drawn.add(
                    String.format(
                            Locale.ROOT,
                            "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"1.2\" fill=\"%s\"/>",
                            x(Double.parseDouble(parts[0])),
                            y,
                            colour(parts[2])));
        }
        svg.append(String.join("\n", drawn)).append('\n');
    }

    private static double x(double seconds) {
        return LEFT + (WIDTH - 10 - LEFT) * seconds / SECONDS;
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
