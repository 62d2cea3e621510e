package org.djlplan.integration.budget;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Draws latency over memory, one panel for each model; both scales are logarithmic. */
final class CurvePlot {

    private static final int WIDTH = 760;
    private static final int PANEL = 300;
    private static final int LEFT = 60;
    private static final int TOP = 24;
    private static final int HEIGHT = 240;
    private static final int RIGHT = 130;

    /** The scale of memory, in megabytes. */
    private static final double LEAST_MB = 16;

    private static final double MOST_MB = 2048;

    /** The scale of latency, relative to stock. */
    private static final double LEAST_RATIO = 0.25;

    private static final double MOST_RATIO = 4;

    private final StringBuilder svg = new StringBuilder();

    private CurvePlot() {}

    /**
     * One configuration of a model: its peak above the idle runtime, and its latency divided by
     * stock's.
     */
    record Point(String name, double megabytes, double ratio, boolean ours) {}

    /**
     * Returns the picture.
     *
     * @param panels points by title; a line joins the points of djl-plan
     */
    static String svg(Map<String, List<Point>> panels) {
        CurvePlot plot = new CurvePlot();
        plot.append(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
                WIDTH, PANEL * panels.size() + TOP);
        int top = TOP;
        for (Map.Entry<String, List<Point>> panel : panels.entrySet()) {
            plot.draw(top, panel.getKey(), panel.getValue());
            top += PANEL;
        }
        plot.append("</svg>%n");
        return plot.svg.toString();
    }

    private void draw(int top, String title, List<Point> points) {
        append(
                "<text x=\"%d\" y=\"%d\">%s: latency / stock over peak memory, MB</text>%n",
                LEFT, top - 6, title);
        for (double ratio = LEAST_RATIO; ratio <= MOST_RATIO; ratio *= 2) {
            append(
                    "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/><text x=\"20\" y=\"%.1f\">%s</text>%n",
                    LEFT, y(top, ratio), WIDTH - RIGHT, y(top, ratio) + 4, ratio);
        }
        for (double megabytes = LEAST_MB; megabytes <= MOST_MB; megabytes *= 2) {
            append(
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>%n",
                    x(megabytes), top + HEIGHT + 14, megabytes);
        }
        StringBuilder line = new StringBuilder();
        for (Point point : points) {
            double x = x(point.megabytes());
            double y = y(top, point.ratio());
            if (point.ours()) {
                line.append(
                        String.format(
                                Locale.ROOT, "%s%.1f %.1f", line.isEmpty() ? "M" : "L", x, y));
            }
            append(
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>%n",
                    x, y, point.ours() ? "#d62728" : "#1f77b4");
            if (!point.ours()) {
                append("<text x=\"%.1f\" y=\"%.1f\">%s</text>%n", x + 6, y - 5, point.name());
            }
        }
        append("<path d=\"%s\" fill=\"none\" stroke=\"#d62728\"/>%n", line);
    }

    private static double x(double megabytes) {
        double part = Math.log(megabytes / LEAST_MB) / Math.log(MOST_MB / LEAST_MB);
        return LEFT + part * (WIDTH - RIGHT - LEFT);
    }

    private static double y(int top, double ratio) {
        double part = Math.log(ratio / LEAST_RATIO) / Math.log(MOST_RATIO / LEAST_RATIO);
        return top + HEIGHT * (1 - part);
    }

    private void append(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
