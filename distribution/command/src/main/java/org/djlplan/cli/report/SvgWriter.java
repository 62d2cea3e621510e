package org.djlplan.cli.report;

import java.util.List;
import java.util.Locale;
import org.djlplan.thirdparty.guava.xml.XmlEscapers;

/**
 * Writes an SVG file, shape by shape. Lengths are in pixels; points are relative to the upper left
 * corner.
 */
final class SvgWriter {

    private final StringBuilder text = new StringBuilder();

    /** A point. */
    record Point(double x, double y) {}

    /** A rectangle. */
    record Box(double x, double y, double width, double height) {}

    /** The position of a text relative to its point: it starts, is centred, or ends there. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    /**
     * The look of a text.
     *
     * @param size height in pixels
     * @param color as {@code 0xRRGGBB}
     */
    record Font(int size, boolean bold, int color) {}

    /**
     * Creates a picture with a white background.
     *
     * @param title for screen readers
     */
    SvgWriter(int width, int height, String title) {
        text.append(
                """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif">
                <title>%3$s</title>
                <rect width="%1$d" height="%2$d" fill="#fff"/>
                """
                        .formatted(width, height, escaped(title)));
    }

    /**
     * Draws many rectangles of one colour.
     *
     * @param edge whether each rectangle has a thin white border
     */
    void boxes(List<Box> boxes, int color, boolean edge) {
        if (boxes.isEmpty()) {
            return;
        }
        text.append("<path fill=\"").append(color(color)).append('"');
        text.append(edge ? " stroke=\"#fff\" stroke-width=\".6\"" : "").append(" d=\"");
        for (Box box : boxes) {
            text.append('M').append(number(box.x())).append(' ').append(number(box.y()));
            text.append('h').append(number(box.width())).append('v').append(number(box.height()));
            text.append('h').append(number(-box.width())).append('z');
        }
        text.append("\"/>\n");
    }

    /** Draws lines from point to point. */
    void line(List<Point> points, int color, double width, boolean dashed) {
        text.append("<polyline fill=\"none\" stroke=\"").append(color(color));
        text.append("\" stroke-width=\"").append(number(width)).append('"');
        text.append(dashed ? " stroke-dasharray=\"6 4\"" : "").append(" points=\"");
        for (Point point : points) {
            text.append(number(point.x())).append(',').append(number(point.y())).append(' ');
        }
        text.setLength(text.length() - 1);
        text.append("\"/>\n");
    }

    /** Writes one line of text. */
    void text(Point at, String line, Font font, Anchor anchor) {
        text.append("<text x=\"").append(number(at.x())).append("\" y=\"").append(number(at.y()));
        text.append("\" font-size=\"").append(font.size()).append("\" fill=\"");
        text.append(color(font.color())).append('"');
        text.append(font.bold() ? " font-weight=\"600\"" : "");
        text.append(
                anchor == Anchor.START
                        ? ""
                        : " text-anchor=\"" + anchor.name().toLowerCase(Locale.ROOT) + "\"");
        text.append('>').append(escaped(line)).append("</text>\n");
    }

    /** Returns the file's text. */
    String svg() {
        return text + "</svg>\n";
    }

    private static String escaped(String any) {
        return XmlEscapers.xmlAttributeEscaper().escape(any);
    }

    private static String color(int color) {
        return String.format(Locale.ROOT, "#%06x", color);
    }

    /** Rounds to tenths of pixels, which is precise enough and short. */
    private static String number(double value) {
        long tenths = Math.round(value * 10);
        return tenths % 10 == 0 ? Long.toString(tenths / 10) : Double.toString(tenths / 10.0);
    }
}
