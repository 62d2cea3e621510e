package org.djlplan.study.delegation;

import java.util.Locale;
import java.util.Map;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The verdict on one operator: delegated, or the reason why not.
 *
 * @param kind in one or two words
 * @param reason in a few words, for people, without the kind; may be empty
 * @param figures behind the reason, by the name in JSON
 */
public record Verdict(String kind, String reason, Map<String, Object> figures) {

    /** The operator is in the chosen set. */
    public static final Verdict DELEGATED = new Verdict("delegated", "");

    /** The user excluded the operator from delegation. */
    static final Verdict EXCLUDED = new Verdict("excluded", "by you");

    /**
     * The operator unpacks a constant, which the delegate must do for all readers of the constant
     * or for none.
     */
    static final Verdict UNPACKS =
            new Verdict("unpacks a constant", "which an operator reads that is not delegated");

    /** The delegate supports the operator, but no set with it was tried. */
    static final Verdict UNTRIED =
            new Verdict("not tried", "no set that has it was measured in the time");

    private static final String UNSUPPORTED = "unsupported";
    private static final String OUTSIDE_TOLERANCE = "outside the tolerance";

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MEGABYTE = 1e6;

    public Verdict {
        figures = ImmutableMap.copyOf(figures);
    }

    private Verdict(String kind, String reason) {
        this(kind, reason, Map.of());
    }

    /** Returns whether the operator is delegated. */
    public boolean isDelegated() {
        return equals(DELEGATED);
    }

    /** Returns whether the verdict depends on the operator alone, not on sets of operators. */
    boolean isOwn() {
        return isDelegated() || equals(EXCLUDED) || kind.equals(UNSUPPORTED);
    }

    /**
     * The delegate does not support the operator.
     *
     * @param rule that the operator breaks, or a remark that none is known
     */
    public static Verdict unsupported(String rule) {
        return new Verdict(UNSUPPORTED, rule);
    }

    /**
     * A set with the operator was measured and was not better than the chosen set.
     *
     * @param with of the sets with the operator, the one nearest to the chosen set
     * @param objective the figure to minimize
     */
    static Verdict notWorth(Entry.Measured with, Entry.Measured chosen, Objective objective) {
        double slowerMillis =
                (with.latency().medianNanos() - chosen.latency().medianNanos()) / NANOS_PER_MILLI;
        long moreBytes = with.memoryBytes() - chosen.memoryBytes();
        String slower =
                text("%.3f ms %s", Math.abs(slowerMillis), slowerMillis > 0 ? "slower" : "faster");
        String costs = slowerMillis > 0 ? slower : "not faster beyond the noise";
        if (objective != Objective.LATENCY) {
            costs =
                    text(
                            "%s, %.1f MB %s",
                            slower,
                            Math.abs(moreBytes) / BYTES_PER_MEGABYTE,
                            moreBytes > 0 ? "more" : "less");
        }
        return new Verdict(
                "not worth it",
                text(
                        "%s (%.3f ms %s, %.3f as chosen)",
                        costs,
                        with.latency().medianNanos() / NANOS_PER_MILLI,
                        where(with),
                        chosen.latency().medianNanos() / NANOS_PER_MILLI),
                ImmutableMap.of("slowerMillis", slowerMillis, "moreBytes", moreBytes));
    }

    /**
     * A set with the operator was measured and exceeds the memory limit.
     *
     * @param with of the sets with the operator, the one nearest to the chosen set
     */
    static Verdict overLimit(Entry.Measured with, long limitBytes) {
        return new Verdict(
                "over the limit",
                text(
                        "%.1f MB %s, where %.1f may be",
                        with.memoryBytes() / BYTES_PER_MEGABYTE,
                        where(with),
                        limitBytes / BYTES_PER_MEGABYTE));
    }

    /**
     * The outputs of sets with the operator differ too much from the CPU kernels'.
     *
     * @param with the smallest of these sets
     * @param type of the output that exceeds its limit the most
     * @param difference of that output, see {@link org.djlplan.memplan.spi.OutputError.Deviation}
     * @param limit accepted difference; if {@code difference} is within it, too many elements of
     *     the output differ
     * @param spread whether the difference is over all elements together, not of a single element
     */
    static Verdict outsideTolerance(
            Entry.Wrong with, ElementType type, double difference, double limit, boolean spread) {
        String differs = "an output differs by " + amount(type, difference);
        return new Verdict(
                OUTSIDE_TOLERANCE,
                difference <= limit
                        ? text("%s in too many elements, %s", differs, where(with))
                        : text(
                                "%s%s %s, where %s is accepted",
                                differs,
                                spread ? " on the whole" : "",
                                where(with),
                                amount(type, limit)),
                ImmutableMap.of("difference", difference, "limit", limit));
    }

    private static String amount(ElementType type, double of) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 -> text("%.1e", of);
            case INT8, UINT8, INT16, UINT16 -> of == 1 ? "one step" : text("%.0f steps", of);
            default -> text("%.0f elements", of);
        };
    }

    /**
     * In sets with this operator, some operator computes other values than its CPU kernel.
     *
     * @param with the smallest of these sets
     * @param worst the worst operator of the set
     */
    static Verdict wrongOperator(Entry.Wrong with, OutputError.ByOperator worst) {
        return new Verdict(
                OUTSIDE_TOLERANCE,
                Double.isInfinite(worst.share())
                        ? "outputs are not what its operators compute one by one, " + where(with)
                        : text(
                                "operator %d differs by %.1f times what is accepted of one, %s",
                                worst.operator(), worst.share(), where(with)));
    }

    /**
     * Sets with the operator do not run.
     *
     * @param with the smallest of these sets
     */
    static Verdict failed(Entry.Failed with) {
        String how =
                switch (with.kind()) {
                    case REFUSED -> "refused";
                    case CRASHED -> "crashed";
                    case TIMED_OUT -> "timed out";
                };
        String message = with.message().lines().findFirst().orElse("").strip();
        return new Verdict(
                "failed",
                text("%s %s%s", how, where(with), message.isEmpty() ? "" : ": " + message));
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static String where(Entry with) {
        int count = with.candidate().operators().size();
        return count == 1 ? "alone" : "in a set of " + count + " operators";
    }
}
