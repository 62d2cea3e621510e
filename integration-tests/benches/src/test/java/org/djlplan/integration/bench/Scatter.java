package org.djlplan.integration.bench;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Draws points in panels, one below the other, as SVG.
 *
 * @param x the horizontal axis
 * @param y the vertical axis, which is logarithmic
 */
public record Scatter(Axis x, Axis y) {

    private static final int WIDTH = 900;
    private static final int PANEL = 230;
    private static final int LEFT = 60;
    private static final int RIGHT = 130;
    private static final int TOP = 24;
    private static final int HEIGHT = 170;

    /**
     * A scale from its first mark to its last one.
     *
     * @param logarithmic whether equal distances are equal ratios
     */
    public record Axis(String label, boolean logarithmic, List<Double> marks) {

        private double part(double value) {
            double first = marks.get(0);
            double last = marks.get(marks.size() - 1);
            double inside = Math.max(first, Math.min(last, value));
            return logarithmic
                    ? Math.log(inside / first) / Math.log(last / first)
                    : (inside - first) / (last - first);
        }
    }

    /**
     * A point.
     *
     * @param name a text beside it; empty for none
     */
    public record Point(double x, double y, String colour, String name) {}

    /** Returns the picture of panels by their titles. */
    public String svg(Map<String, List<Point>> panels) {
        StringBuilder svg = new StringBuilder();
        append(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
                WIDTH,
                PANEL * panels.size() + TOP);
        int top = TOP;
        for (Map.Entry<String, List<Point>> panel : panels.entrySet()) {
            draw(svg, top, panel.getKey(), panel.getValue());
            top += PANEL;
        }
        append(svg, "</svg>%n");
        return svg.toString();
    }

    private void draw(StringBuilder svg, int top, String title, List<Point> points) {
        append(
                svg,
                "<text x=\"%d\" y=\"%d\">%s: %s over %s</text>%n",
                LEFT,
                top - 6,
                title,
                y.label(),
                x.label());
        for (double mark : y.marks()) {
            append(
                    svg,
                    "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/><text x=\"8\" y=\"%.1f\">%s</text>%n",
                    LEFT,
                    y(top, mark),
                    WIDTH - RIGHT,
                    y(top, mark) + 4,
                    mark);
        }
        for (double mark : x.marks()) {
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>%n",
                    x(mark),
                    top + HEIGHT + 14,
                    mark);
        }
        // Points at the same place are drawn once, because there may be ten thousand.
        Set<String> drawn = new LinkedHashSet<>();
        for (Point point : points) {
            String text =
                    point.name().isEmpty()
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    "<text x=\"%.0f\" y=\"%.0f\">%s</text>",
                                    x(point.x()) + 6,
                                    y(top, point.y()) - 5,
                                    point.name());
            drawn.add(
                    String.format(
                            Locale.ROOT,
                            "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"2\" fill=\"%s\"/>%s%n",
                            x(point.x()),
                            y(top, point.y()),
                            point.colour(),
                            text));
        }
        drawn.forEach(svg::append);
    }

    private double x(double value) {
        return LEFT + (WIDTH - RIGHT - LEFT) * x.part(value);
    }

    private double y(int top, double value) {
        return top + HEIGHT * (1 - y.part(value));
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
