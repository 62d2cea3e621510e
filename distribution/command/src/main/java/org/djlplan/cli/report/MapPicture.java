package org.djlplan.cli.report;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.cli.report.MemoryMap.Owner;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.xml.XmlEscapers;

/**
 * Draws the memory map of the best plan as an SVG picture: time runs across, addresses run up, and
 * each tensor is one rectangle, with the breadth curve and the lower bound on top.
 */
public final class MapPicture {

    private static final double LEFT = 76;
    private static final double RIGHT = 936;
    private static final double TOP = 92;
    private static final double BOTTOM = 464;

    private static final String BEGIN =
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 540" width="960" height="540" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" fill="#57606a">
            <title>Memory map of %1$s</title>
            <rect width="960" height="540" fill="#fff"/>
            <text x="24" y="34" font-size="18" font-weight="600" fill="#1b1f24">%1$s</text>
            <text x="24" y="58" font-size="13">%2$s</text>
            """;

    private static final String GRID = "stroke=\"#e3e6ea\"";
    private static final String TICK = "stroke=\"#57606a\"";
    private static final String BREADTH = "stroke=\"#1b1f24\" stroke-width=\"1.2\"";
    private static final String BOUND =
            "stroke=\"#d55e00\" stroke-width=\"1.6\" stroke-dasharray=\"6 4\"";
    private static final String EDGE = " stroke=\"#fff\" stroke-width=\".6\"";

    /** The owners' labels, and their colours, which colour-blind people can tell apart. */
    private static final ImmutableMap<Owner, Look> LOOKS =
            ImmutableMap.of(
                    Owner.ARENA,
                            new Look("tensors", List.of("4c8fc9", "6aa5d8", "3b7ab1", "86b8e2")),
                    Owner.TEMPORARY,
                            new Look("temporaries of kernels", List.of("e69f00", "f0b73d")),
                    Owner.IO, new Look("inputs and outputs", List.of("009e73", "35b48f")));

    /**
     * The look of an owner's tensors; neighbours get slightly different shades.
     *
     * @param shades in hexadecimal
     */
    private record Look(String label, List<String> shades) {}

    private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB");
    private static final int LONGEST_TITLE = 70;
    private static final int MOST_TICKS = 8;

    /** Thinner rectangles would consist of their edge only. */
    private static final double LEAST_EDGED = 3;

    private final Report report;
    private final MemoryMap map;
    private final Strategy plan;
    private final int steps;
    private final long topBytes;
    private final StringBuilder svg = new StringBuilder();

    private MapPicture(Report report) {
        this.report = report;
        map = report.plan();
        plan = map.bestStrategy();
        steps = map.operators().size();
        topBytes = Math.max(1, Math.max(plan.totalBytes(), most(map.breadthBytes())));
    }

    private static long most(List<Long> bytes) {
        return bytes.isEmpty() ? 0 : Collections.max(bytes);
    }

    /** Returns the picture as the text of an SVG file. */
    public static String svg(Report report) {
        return new MapPicture(report).draw();
    }

    private String draw() {
        svg.append(BEGIN.formatted(escaped(title()), escaped(summary())));
        axes();
        tensors();
        breadth();
        // A plan in which tensors share places may be smaller than the bound without sharing.
        boolean shares = plan.totalBytes() < map.lowerBoundBytes();
        long bound = shares ? map.aliasedLowerBoundBytes() : map.lowerBoundBytes();
        line(LEFT, y((double) bound), RIGHT, y((double) bound), BOUND);
        legend();
        return svg.append("</svg>\n").toString();
    }

    /** Returns the name without bidirectional control characters, which would affect later text. */
    private String title() {
        String name = report.model().name().replaceAll("[\\p{Cc}\\p{Cf}\\p{Cs}]", "");
        return name.codePoints()
                        .limit(LONGEST_TITLE)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, (a, b) -> {})
                + (name.length() > LONGEST_TITLE ? "…" : "");
    }

    private String summary() {
        long bound = map.lowerBoundBytes();
        long shared = map.aliasedLowerBoundBytes();
        return "best plan %s by %s%s  ·  lower bound %s%s  ·  naive %s"
                .formatted(
                        bytes(plan.totalBytes()),
                        plan.name(),
                        plan.provedMinimal() ? ", proved minimal" : "",
                        bytes(bound),
                        shared < bound ? ", " + bytes(shared) + " with places shared" : "",
                        bytes(map.naiveBytes()));
    }

    /** Returns the exponent of 1,024 of the largest unit that is not larger than a size. */
    private static int unit(long size) {
        int bits = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, size));
        return Math.min(UNITS.size() - 1, bits / 10);
    }

    /** Returns a size with three significant digits, or with all digits before the point. */
    private static String bytes(long size) {
        int unit = unit(size);
        double value = size / Math.pow(1024, unit);
        int decimals = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return String.format(Locale.ROOT, "%,." + decimals + "f %s", value, UNITS.get(unit));
    }

    private double x(double step) {
        return LEFT + (RIGHT - LEFT) * step / Math.max(1, steps);
    }

    private double y(double bytes) {
        return BOTTOM - (BOTTOM - TOP) * bytes / topBytes;
    }

    private void axes() {
        double unit = Math.pow(1024, unit(topBytes));
        double tick = roundTick(topBytes / unit);
        for (int i = 0; i * tick * unit <= topBytes; i++) {
            double at = y(i * tick * unit);
            line(LEFT, at, RIGHT, at, GRID);
            text(LEFT - 8, at + 4, number(i * tick), "end");
        }
        text(LEFT - 8, TOP - 10, UNITS.get(unit(topBytes)), "end");
        int stride = (int) Math.max(1, roundTick(steps));
        for (int step = 0; step < steps; step += stride) {
            line(x(step), BOTTOM, x(step), BOTTOM + 5, TICK);
            int number = map.stepNumbers().isEmpty() ? step : map.stepNumbers().get(step);
            text(x(step), BOTTOM + 20, Integer.toString(number), "middle");
        }
        boolean operators = map.operators().stream().anyMatch(type -> !type.isEmpty());
        boolean recorded = report.model().view().equals("recording");
        String word = recorded ? "allocations and frees, in their order" : "steps";
        String axis = operators ? "operators in execution order" : word;
        text((LEFT + RIGHT) / 2, BOTTOM + 38, axis, "middle");
    }

    /** Returns 1, 2 or 5 times a power of ten that divides a length into a few parts. */
    private static double roundTick(double length) {
        double tick = Math.pow(10, Math.floor(Math.log10(Math.max(length, 1e-9) / MOST_TICKS)));
        for (double factor : new double[] {1, 2, 5}) {
            if (length / (tick * factor) <= MOST_TICKS) {
                return tick * factor;
            }
        }
        return tick * 10;
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,d", (long) value)
                : String.format(Locale.ROOT, "%.2f", value).replaceAll("0$", "");
    }

    /** Draws all rectangles of one look as one path. */
    private void tensors() {
        Map<String, StringBuilder> paths = new TreeMap<>();
        plan.places()
                .forEach(
                        (index, offset) -> {
                            Tensor tensor = map.tensors().get(index);
                            double left = x(tensor.first());
                            double top = y((double) offset + tensor.bytes());
                            double width = x(tensor.last() + 1) - left;
                            double height = y(offset) - top;
                            List<String> shades = LOOKS.get(tensor.owner()).shades();
                            String edge = Math.min(width, height) < LEAST_EDGED ? "" : EDGE;
                            String look =
                                    "fill=\"#" + shades.get(index % shades.size()) + '"' + edge;
                            paths.computeIfAbsent(look, key -> new StringBuilder())
                                    .append(rectangle(left, top, width, height));
                        });
        paths.forEach(this::path);
    }

    private static String rectangle(double x, double y, double width, double height) {
        return "M%s %sh%sv%sh%sz"
                .formatted(tenths(x), tenths(y), tenths(width), tenths(height), tenths(-width));
    }

    /** Of several steps in one pixel, the one with the largest breadth is shown. */
    private void breadth() {
        StringBuilder curve = new StringBuilder("M" + tenths(LEFT) + " " + tenths(BOTTOM));
        int stride = Math.max(1, (int) Math.ceil(steps / (RIGHT - LEFT)));
        for (int step = 0; step < steps; step += stride) {
            int end = Math.min(step + stride, steps);
            long widest = most(map.breadthBytes().subList(step, end));
            curve.append("V").append(tenths(y((double) widest))).append("H").append(tenths(x(end)));
        }
        path("fill=\"none\" " + BREADTH, curve);
    }

    private void legend() {
        double at = LEFT;
        double y = 524;
        for (Map.Entry<Owner, Look> look : LOOKS.entrySet()) {
            boolean shown =
                    plan.places().keySet().stream()
                            .anyMatch(index -> map.tensors().get(index).owner() == look.getKey());
            if (shown) {
                String fill = "fill=\"#" + look.getValue().shades().get(0) + '"';
                path(fill, rectangle(at, y - 10, 12, 12));
                at = caption(at + 18, y, look.getValue().label());
            }
        }
        line(at, y - 4, at + 20, y - 4, BREADTH);
        at = caption(at + 26, y, "breadth: what is alive");
        line(at, y - 4, at + 20, y - 4, BOUND);
        caption(at + 26, y, "lower bound");
    }

    private double caption(double at, double y, String text) {
        text(at, y, text, "start");
        return at + 6.8 * text.length() + 18;
    }

    private void path(String look, CharSequence path) {
        svg.append("<path %s d=\"%s\"/>\n".formatted(look, path));
    }

    private void line(double x, double y, double endX, double endY, String look) {
        String path = "M%s %sL%s %s".formatted(tenths(x), tenths(y), tenths(endX), tenths(endY));
        path("fill=\"none\" " + look, path);
    }

    private void text(double x, double y, String text, String anchor) {
        svg.append(
                "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n"
                        .formatted(tenths(x), tenths(y), anchor, escaped(text)));
    }

    private static String escaped(String any) {
        return XmlEscapers.xmlAttributeEscaper().escape(any);
    }

    /** Rounds to tenths of pixels, which is precise enough and short. */
    private static String tenths(double value) {
        long tenths = Math.round(value * 10);
        return tenths % 10 == 0 ? Long.toString(tenths / 10) : Double.toString(tenths / 10.0);
    }
}
