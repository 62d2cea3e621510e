package org.djlplan.cli.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.cli.report.MemoryMap.Owner;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;
import org.djlplan.cli.report.SvgWriter.Anchor;
import org.djlplan.cli.report.SvgWriter.Box;
import org.djlplan.cli.report.SvgWriter.Font;
import org.djlplan.cli.report.SvgWriter.Point;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Draws the memory map of the best plan as an SVG picture: time runs across, addresses run up, and
 * each tensor is one rectangle, with the breadth curve and the lower bound on top.
 */
public final class MapPicture {

    private static final int WIDTH = 960;
    private static final int HEIGHT = 540;

    private static final double LEFT = 76;
    private static final double RIGHT = WIDTH - 24;
    private static final double TOP = 92;
    private static final double BOTTOM = HEIGHT - 76;
    private static final double PLOT_WIDTH = RIGHT - LEFT;
    private static final double PLOT_HEIGHT = BOTTOM - TOP;

    private static final int INK = 0x1b1f24;
    private static final int SOFT = 0x57606a;
    private static final int GRID = 0xe3e6ea;
    private static final int BREADTH = 0x1b1f24;
    private static final int BOUND = 0xd55e00;

    private static final Font TITLE = new Font(18, true, INK);
    private static final Font SUBTITLE = new Font(13, false, SOFT);
    private static final Font LABEL = new Font(12, false, SOFT);

    /**
     * Neighbouring tensors of one owner get slightly different shades. The colours are
     * distinguishable for colour-blind people.
     */
    private static final ImmutableMap<Owner, int[]> SHADES =
            ImmutableMap.of(
                    Owner.ARENA, new int[] {0x4c8fc9, 0x6aa5d8, 0x3b7ab1, 0x86b8e2},
                    Owner.TEMPORARY, new int[] {0xe69f00, 0xf0b73d},
                    Owner.IO, new int[] {0x009e73, 0x35b48f});

    private static final ImmutableMap<Owner, String> LABELS =
            ImmutableMap.of(
                    Owner.ARENA, "tensors",
                    Owner.TEMPORARY, "temporaries of kernels",
                    Owner.IO, "inputs and outputs");

    private static final int LONGEST_TITLE = 70;
    private static final int MOST_TICKS = 8;

    /** Thinner rectangles would consist of their edge only. */
    private static final double LEAST_EDGED = 3;

    private final Report report;
    private final MemoryMap map;
    private final Strategy plan;
    private final long topBytes;
    private final SvgWriter svg;

    private MapPicture(Report report) {
        this.report = report;
        svg = new SvgWriter(WIDTH, HEIGHT, "Memory map of " + title(report));
        map = report.plan();
        plan = map.bestStrategy();
        topBytes =
                Math.max(
                        1,
                        Math.max(
                                plan.totalBytes(),
                                map.breadthBytes().stream()
                                        .mapToLong(bytes -> bytes)
                                        .max()
                                        .orElse(0)));
    }

    /** Returns the picture as the text of an SVG file. */
    public static String svg(Report report) {
        MapPicture picture = new MapPicture(report);
        picture.draw();
        return picture.svg.svg();
    }

    private static String title(Report report) {
        String name = report.model().name();
        StringBuilder text = new StringBuilder();
        // Bidirectional control characters would affect text after the name, so they are replaced.
        name.codePoints()
                .filter(c -> Character.getType(c) != Character.FORMAT && !Character.isISOControl(c))
                .limit(LONGEST_TITLE)
                .forEach(text::appendCodePoint);
        return text.length() < name.length() && text.length() >= LONGEST_TITLE
                ? text + "…"
                : text.toString();
    }

    private void draw() {
        svg.text(new Point(24, 34), title(report), TITLE, Anchor.START);
        svg.text(new Point(24, 58), summary(), SUBTITLE, Anchor.START);
        axes();
        tensors();
        curves();
        legend();
    }

    private String summary() {
        StringBuilder text = new StringBuilder();
        text.append("best plan ").append(ByteUnit.text(plan.totalBytes()));
        text.append(" by ").append(plan.name());
        text.append(plan.provedMinimal() ? ", proved minimal" : "");
        text.append("  ·  lower bound ");
        text.append(ByteUnit.text(map.lowerBoundBytes()));
        if (map.aliasedLowerBoundBytes() < map.lowerBoundBytes()) {
            text.append(", ").append(ByteUnit.text(map.aliasedLowerBoundBytes()));
            text.append(" with places shared");
        }
        text.append("  ·  naive ").append(ByteUnit.text(map.naiveBytes()));
        return text.toString();
    }

    private double x(double step) {
        return LEFT + PLOT_WIDTH * step / Math.max(1, map.operators().size());
    }

    private double y(double bytes) {
        return BOTTOM - PLOT_HEIGHT * bytes / topBytes;
    }

    private void axes() {
        ByteUnit unit = ByteUnit.of(topBytes);
        double tick = roundTick((double) topBytes / unit.bytes());
        for (int i = 0; i * tick * unit.bytes() <= topBytes; i++) {
            double at = y(i * tick * unit.bytes());
            svg.line(List.of(new Point(LEFT, at), new Point(RIGHT, at)), GRID, 1, false);
            svg.text(new Point(LEFT - 8, at + 4), number(i * tick), LABEL, Anchor.END);
        }
        svg.text(new Point(LEFT - 8, TOP - 10), unit.symbol(), LABEL, Anchor.END);
        int steps = map.operators().size();
        double stride = Math.max(1, roundTick(steps));
        for (double step = 0; step < steps; step += stride) {
            double at = x(step);
            svg.line(List.of(new Point(at, BOTTOM), new Point(at, BOTTOM + 5)), SOFT, 1, false);
            int number =
                    map.stepNumbers().isEmpty() ? (int) step : map.stepNumbers().get((int) step);
            svg.text(new Point(at, BOTTOM + 20), Integer.toString(number), LABEL, Anchor.MIDDLE);
        }
        boolean operators = map.operators().stream().anyMatch(type -> !type.isEmpty());
        String what =
                operators
                        ? "operators in execution order"
                        : report.model().view().equals("recording")
                                ? "allocations and frees, in their order"
                                : "steps";
        svg.text(new Point((LEFT + RIGHT) / 2, BOTTOM + 38), what, LABEL, Anchor.MIDDLE);
    }

    /** Returns 1, 2 or 5 times a power of ten that divides a length into a few parts. */
    private static double roundTick(double length) {
        double tick = Math.pow(10, Math.floor(Math.log10(Math.max(length, 1e-9) / MOST_TICKS)));
        for (double factor : new double[] {1, 2, 5, 10}) {
            if (length / (tick * factor) <= MOST_TICKS) {
                return tick * factor;
            }
        }
        return tick;
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,d", (long) value)
                : String.format(Locale.ROOT, "%.2f", value).replaceAll("0$", "");
    }

    private void tensors() {
        Map<Owner, List<List<Box>>> edged = new EnumMap<>(Owner.class);
        Map<Owner, List<List<Box>>> plain = new EnumMap<>(Owner.class);
        for (Owner owner : Owner.values()) {
            for (int i = 0; i < SHADES.get(owner).length; i++) {
                edged.computeIfAbsent(owner, key -> new ArrayList<>()).add(new ArrayList<>());
                plain.computeIfAbsent(owner, key -> new ArrayList<>()).add(new ArrayList<>());
            }
        }
        plan.offsets()
                .orElse(Map.of())
                .forEach(
                        (index, offset) -> {
                            Tensor tensor = map.tensors().get(index);
                            Box box = box(tensor, offset);
                            boolean edge = Math.min(box.width(), box.height()) >= LEAST_EDGED;
                            int shade = index % SHADES.get(tensor.owner()).length;
                            (edge ? edged : plain).get(tensor.owner()).get(shade).add(box);
                        });
        for (Owner owner : Owner.values()) {
            for (int i = 0; i < SHADES.get(owner).length; i++) {
                svg.boxes(plain.get(owner).get(i), SHADES.get(owner)[i], false);
                svg.boxes(edged.get(owner).get(i), SHADES.get(owner)[i], true);
            }
        }
    }

    private Box box(Tensor tensor, long offset) {
        double left = x(tensor.first());
        double top = y((double) offset + tensor.bytes());
        return new Box(left, top, x(tensor.last() + 1) - left, y((double) offset) - top);
    }

    private void curves() {
        List<Point> breadth = breadth();
        if (!breadth.isEmpty()) {
            svg.line(breadth, BREADTH, 1.2, false);
        }
        double bound = y((double) boundBytes());
        svg.line(List.of(new Point(LEFT, bound), new Point(RIGHT, bound)), BOUND, 1.6, true);
    }

    /** Of several steps in one pixel, the one with the largest breadth is shown. */
    private List<Point> breadth() {
        List<Point> curve = new ArrayList<>();
        List<Long> breadths = map.breadthBytes();
        int stride = Math.max(1, (int) Math.ceil(breadths.size() / PLOT_WIDTH));
        long before = -1;
        for (int step = 0; step < breadths.size(); step += stride) {
            int end = Math.min(step + stride, breadths.size());
            long widest = Collections.max(breadths.subList(step, end));
            if (widest != before) {
                curve.add(new Point(x(step), y((double) Math.max(0, before))));
                curve.add(new Point(x(step), y((double) widest)));
                before = widest;
            }
        }
        if (!curve.isEmpty()) {
            curve.add(new Point(x(breadths.size()), y((double) before)));
        }
        return curve;
    }

    /** The bound of the planned problem, with or without shared places. */
    private long boundBytes() {
        return Math.min(
                map.lowerBoundBytes(),
                plan.totalBytes() < map.lowerBoundBytes()
                        ? map.aliasedLowerBoundBytes()
                        : map.lowerBoundBytes());
    }

    private void legend() {
        double at = LEFT;
        double y = HEIGHT - 16;
        for (Owner owner : Owner.values()) {
            boolean shown =
                    plan.offsets().orElse(Map.of()).keySet().stream()
                            .anyMatch(index -> map.tensors().get(index).owner() == owner);
            if (shown) {
                svg.boxes(List.of(new Box(at, y - 10, 12, 12)), SHADES.get(owner)[0], false);
                at = caption(at + 18, y, LABELS.get(owner));
            }
        }
        svg.line(List.of(new Point(at, y - 4), new Point(at + 20, y - 4)), BREADTH, 1.2, false);
        at = caption(at + 26, y, "breadth: what is alive");
        svg.line(List.of(new Point(at, y - 4), new Point(at + 20, y - 4)), BOUND, 1.6, true);
        caption(at + 26, y, "lower bound");
    }

    private double caption(double at, double y, String text) {
        svg.text(new Point(at, y), text, LABEL, Anchor.START);
        return at + 6.8 * text.length() + 18;
    }
}
