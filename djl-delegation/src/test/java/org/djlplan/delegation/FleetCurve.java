package org.djlplan.delegation;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Draws when machines of fleets have their choice, over the number of machines. */
final class FleetCurve {

    private static final int WIDTH = 900;
    private static final int LEFT = 60;
    private static final int RIGHT = 880;
    private static final int TOP = 34;
    private static final int HEIGHT = 300;
    private static final int LINE = 18;
    private static final int LEGEND = TOP + HEIGHT + 44;

    /** Of the scale of seconds, which is linear. */
    private static final double SECONDS = 500;

    /** The scale of machines is logarithmic, from 10 to 1000. */
    private static final double DECADES = 2;

    private static final List<String> COLOURS =
            List.of("#2ca02c", "#1f77b4", "#17becf", "#ff7f0e", "#d62728");

    private final StringBuilder svg = new StringBuilder();

    private FleetCurve() {}

    /**
     * A size of fleet.
     *
     * @param halfSeconds until half of the machines have the choice
     * @param allSeconds until the last one has it
     */
    record Point(int machines, double halfSeconds, double allSeconds) {}

    /**
     * @param curves by what goes wrong; at most five
     */
    static String svg(Map<String, List<Point>> curves) {
        FleetCurve picture = new FleetCurve();
        picture.axes(LEGEND + LINE * curves.size());
        int i = 0;
        for (Map.Entry<String, List<Point>> curve : curves.entrySet()) {
            picture.draw(curve.getKey(), curve.getValue(), COLOURS.get(i), LEGEND + LINE * i);
            i++;
        }
        picture.append("</svg>%n");
        return picture.svg.toString();
    }

    private void axes(int height) {
        append(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n"
                        + "<text x=\"%d\" y=\"%d\">seconds until the last machine (dashed: half of"
                        + " them) has the choice, over the number of machines</text>%n",
                WIDTH, height, LEFT, TOP - 16);
        for (int seconds = 0; seconds <= SECONDS; seconds += 100) {
            append(
                    "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/>"
                            + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d</text>%n",
                    LEFT, y(seconds), RIGHT, LEFT - 8, y(seconds) + 4, seconds);
        }
        for (int machines : List.of(10, 30, 100, 300, 1000)) {
            append(
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>%n",
                    x(machines), TOP + HEIGHT + 18, machines);
        }
    }

    private void draw(String name, List<Point> points, String colour, int legend) {
        StringBuilder half = new StringBuilder();
        StringBuilder all = new StringBuilder();
        for (Point point : points) {
            String to = half.length() == 0 ? "M" : "L";
            half.append(place(to, point.machines(), point.halfSeconds()));
            all.append(place(to, point.machines(), point.allSeconds()));
        }
        append(
                "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-dasharray=\"4 4\"/>%n"
                        + "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n"
                        + "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"2\"/>"
                        + "<text x=\"%d\" y=\"%d\">%s</text>%n",
                half, colour, all, colour, LEFT, legend - 4, colour, LEFT + 32, legend, name);
    }

    private static String place(String to, int machines, double seconds) {
        return String.format(Locale.ROOT, "%s%.1f %.1f", to, x(machines), y(seconds));
    }

    private static double x(int machines) {
        return LEFT + (RIGHT - LEFT) * (Math.log10(machines) - 1) / DECADES;
    }

    private static double y(double seconds) {
        return TOP + HEIGHT * (1 - Math.min(seconds, SECONDS) / SECONDS);
    }

    private void append(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
