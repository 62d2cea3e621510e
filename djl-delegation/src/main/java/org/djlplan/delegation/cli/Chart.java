package org.djlplan.delegation.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.html.HtmlEscapers;
import com.google.common.primitives.ImmutableDoubleArray;
import java.util.List;
import java.util.Locale;

/**
 * A chart as an SVG element of an HTML page. What is drawn has classes of {@link StudyPage}'s style
 * sheet; its colours are those of the page.
 */
final class Chart {

    private static final int WIDTH = 720;
    private static final int HEIGHT = 400;
    private static final int LEFT = 64;
    private static final int RIGHT = 16;
    private static final int TOP = 40;
    private static final int BOTTOM = 56;
    private static final int LEGEND_STEP = 150;

    /** A point in the units of the axes. */
    record Point(double x, double y) {}

    private final Axis x;
    private final Axis y;
    private final StringBuilder content = new StringBuilder();
    private int legends;

    /**
     * @param title read by who cannot see it
     */
    Chart(String title, Axis x, Axis y) {
        this.x = x;
        this.y = y;
        add(
                "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title>",
                WIDTH, HEIGHT, escape(title));
        axes();
    }

    private void axes() {
        for (double tick : y.ticks().asList()) {
            double at = top(tick);
            add(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
                    LEFT, WIDTH - RIGHT, at, at);
            text("end", LEFT - 8, at + 4, y.text(tick));
        }
        for (double tick : x.ticks().asList()) {
            text("middle", left(tick), HEIGHT - BOTTOM + 20, x.text(tick));
        }
        int floor = HEIGHT - BOTTOM;
        add(
                "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>",
                LEFT, WIDTH - RIGHT, floor, floor);
        text("middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, x.label());
        double middle = (TOP + floor) / 2.0;
        add(
                "<text class=\"middle\" transform=\"translate(16 %.1f) rotate(-90)\">%s</text>",
                middle, escape(y.label()));
    }

    private double left(double value) {
        return LEFT + x.part(value) * (WIDTH - LEFT - RIGHT);
    }

    private double top(double value) {
        return HEIGHT - BOTTOM - y.part(value) * (HEIGHT - TOP - BOTTOM);
    }

    private void text(String anchor, double left, double top, String text) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", anchor, left, top, escape(text));
    }

    /** Draws a dot with a text that shows when it is pointed at. */
    void dot(String kind, Point point, double radius, String text) {
        add(
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%s</title></circle>",
                kind, left(point.x()), top(point.y()), radius, escape(text));
    }

    /** Draws a line through points. */
    void line(String kind, List<Point> points) {
        StringBuilder path = new StringBuilder();
        for (Point point : points) {
            path.append(path.length() == 0 ? "" : " ")
                    .append(format("%.1f,%.1f", left(point.x()), top(point.y())));
        }
        add("<polyline class=\"%s\" points=\"%s\"/>", kind, path);
    }

    /** Draws a line from side to side. */
    void level(String kind, double value) {
        line(kind, List.of(new Point(x.low(), value), new Point(x.high(), value)));
    }

    /** Draws a bar from 0, with a text that shows when it is pointed at. */
    void bar(String kind, double from, double to, double value, String text) {
        add(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                        + "<title>%s</title></rect>",
                kind,
                left(from),
                top(value),
                left(to) - left(from),
                top(0) - top(value),
                escape(text));
    }

    /** Says above the chart what a kind of mark means. */
    void legend(String kind, String text) {
        int left = LEFT + LEGEND_STEP * legends++;
        add("<rect class=\"%s\" x=\"%d\" y=\"10\" width=\"12\" height=\"12\"/>", kind, left);
        text("start", left + 18, 20, text);
    }

    /** Returns the element. */
    String svg() {
        return content + "</svg>\n";
    }

    private void add(String format, Object... values) {
        content.append(format(format, values)).append('\n');
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static String escape(String text) {
        return HtmlEscapers.htmlEscaper().escape(text);
    }

    /**
     * An axis of a chart.
     *
     * @param label what it shows, with the unit
     * @param low the value at its beginning
     * @param high the value at its end
     * @param step between ticks, which are at its multiples
     */
    record Axis(String label, double low, double high, double step) {

        private static final int MOST_STEPS = 8;
        private static final int MOST_WHOLE = 20;

        /** Of a step: what rounding may do to a multiple of it. */
        private static final double ROUNDING = 1e-9;

        Axis {
            checkArgument(low < high, "%s to %s", low, high);
            checkArgument(step > 0, "step: %s", step);
        }

        /** Returns an axis from 0 to the first tick that is not below the largest value. */
        static Axis upTo(String label, double most) {
            double step = roundStep(Math.max(most, ROUNDING) / MOST_STEPS);
            return new Axis(label, 0, step * Math.max(1, Math.ceil(most / step - ROUNDING)), step);
        }

        /** Returns an axis of whole numbers, with room for half of one on either side. */
        static Axis whole(String label, int first, int last) {
            double step = Math.max(1, roundStep((double) (last - first) / MOST_WHOLE));
            return new Axis(label, first - 0.5, last + 0.5, step);
        }

        /** Returns the least of 1, 2 and 5 times a power of ten that is not below a value. */
        private static double roundStep(double least) {
            if (least <= 0) {
                return 1;
            }
            double power = Math.pow(10, Math.floor(Math.log10(least)));
            for (int factor : new int[] {1, 2, 5}) {
                if (factor * power >= least) {
                    return factor * power;
                }
            }
            return 10 * power;
        }

        /** Returns where a value lies: 0 at the beginning, 1 at the end. */
        double part(double value) {
            return (value - low) / (high - low);
        }

        /** Returns the values that have a tick. */
        ImmutableDoubleArray ticks() {
            ImmutableDoubleArray.Builder ticks = ImmutableDoubleArray.builder();
            for (long k = (long) Math.ceil(low / step); k * step <= high + step * ROUNDING; k++) {
                ticks.add(k * step);
            }
            return ticks.build();
        }

        /** Returns the text of a tick, with as many decimals as the step needs. */
        String text(double tick) {
            int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + ROUNDING));
            return String.format(Locale.ROOT, "%." + decimals + "f", tick);
        }
    }
}
