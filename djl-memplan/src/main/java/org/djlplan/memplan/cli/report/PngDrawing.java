package org.djlplan.memplan.cli.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.TextLayout;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import javax.imageio.ImageIO;

/** Draws the pixels of a PNG file, without a display. */
final class PngDrawing implements Drawing {

    /** For screens with small pixels. */
    private static final int SCALE = 2;

    private static final float[] DASHES = {6, 4};
    private static final float EDGE = .6f;

    private final BufferedImage image;
    private final Graphics2D graphics;

    PngDrawing(int width, int height) {
        image = new BufferedImage(width * SCALE, height * SCALE, BufferedImage.TYPE_INT_RGB);
        graphics = image.createGraphics();
        graphics.setRenderingHint(
                RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(
                RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(
                RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        graphics.scale(SCALE, SCALE);
        graphics.setColor(Color.WHITE);
        graphics.fill(new Rectangle2D.Double(0, 0, width, height));
    }

    @Override
    public void boxes(List<Box> boxes, int color, boolean edge) {
        for (Box box : boxes) {
            Rectangle2D shape = new Rectangle2D.Double(box.x(), box.y(), box.width(), box.height());
            graphics.setColor(new Color(color));
            graphics.fill(shape);
            if (edge) {
                graphics.setStroke(new BasicStroke(EDGE));
                graphics.setColor(Color.WHITE);
                graphics.draw(shape);
            }
        }
    }

    @Override
    public void line(List<Point> points, int color, double width, boolean dashed) {
        Path2D path = new Path2D.Double();
        path.moveTo(points.get(0).x(), points.get(0).y());
        points.forEach(point -> path.lineTo(point.x(), point.y()));
        graphics.setColor(new Color(color));
        graphics.setStroke(
                new BasicStroke(
                        (float) width,
                        BasicStroke.CAP_BUTT,
                        BasicStroke.JOIN_ROUND,
                        1,
                        dashed ? DASHES : null,
                        0));
        graphics.draw(path);
    }

    @Override
    public void text(Point at, String line, Font font, Anchor anchor) {
        if (line.isEmpty()) {
            return;
        }
        TextLayout layout =
                new TextLayout(
                        line,
                        new java.awt.Font(
                                java.awt.Font.SANS_SERIF,
                                font.bold() ? java.awt.Font.BOLD : java.awt.Font.PLAIN,
                                font.size()),
                        graphics.getFontRenderContext());
        double left =
                switch (anchor) {
                    case START -> 0;
                    case MIDDLE -> layout.getAdvance() / 2;
                    case END -> layout.getAdvance();
                };
        graphics.setColor(new Color(font.color()));
        layout.draw(graphics, (float) (at.x() - left), (float) at.y());
    }

    /** Returns the file's bytes. */
    byte[] png() throws IOException {
        graphics.dispose();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (!ImageIO.write(image, "png", bytes)) {
            throw new IOException("this JVM writes no PNG files");
        }
        return bytes.toByteArray();
    }
}
