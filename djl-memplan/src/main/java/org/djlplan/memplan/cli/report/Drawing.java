package org.djlplan.memplan.cli.report;

import java.util.List;

/** What a picture is drawn on. Lengths are in pixels from the upper left corner. */
interface Drawing {

    /** A point. */
    record Point(double x, double y) {}

    /** A rectangle. */
    record Box(double x, double y, double width, double height) {}

    /** Where of a text its point is. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    /**
     * How a text looks.
     *
     * @param size height of its font
     * @param color as {@code 0xRRGGBB}
     */
    record Font(int size, boolean bold, int color) {}

    /**
     * Draws many rectangles of one colour.
     *
     * @param edge whether a thin white line is around each
     */
    void boxes(List<Box> boxes, int color, boolean edge);

    /** Draws lines from point to point. */
    void line(List<Point> points, int color, double width, boolean dashed);

    /** Writes one line of text. */
    void text(Point at, String text, Font font, Anchor anchor);
}
