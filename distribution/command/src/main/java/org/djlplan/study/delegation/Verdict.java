package org.djlplan.study.delegation;

import java.util.Locale;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;

/** The verdict on one operator: delegated, or the reason why not. */
public sealed interface Verdict {

    /** To convert to milliseconds in reasons. */
    double NANOS_PER_MILLI = 1e6;

    /** To convert to megabytes in reasons. */
    double BYTES_PER_MEGABYTE = 1e6;

    /** Returns the kind of the verdict in one or two words. */
    String kind();

    /** Returns the reason in a few words, for people, without the kind. */
    String reason();

    /** The operator is in the chosen set. */
    record Delegated() implements Verdict {
        @Override
        public String kind() {
            return "delegated";
        }

        @Override
        public String reason() {
            return "";
        }
    }

    /** The user excluded the operator from delegation. */
    record Excluded() implements Verdict {
        @Override
        public String kind() {
            return "excluded";
        }

        @Override
        public String reason() {
            return "by you";
        }
    }

    /**
     * The delegate does not support the operator.
     *
     * @param rule that the operator breaks, or a remark that none is known
     */
    record Unsupported(String rule) implements Verdict {
        @Override
        public String kind() {
            return "unsupported";
        }

        @Override
        public String reason() {
            return rule;
        }
    }

    /**
     * The operator unpacks a constant, which the delegate must do for all readers of the constant
     * or for none.
     */
    record Unpacks() implements Verdict {
        @Override
        public String kind() {
            return "unpacks a constant";
        }

        @Override
        public String reason() {
            return "which an operator reads that is not delegated";
        }
    }

    /**
     * A set with the operator was measured and was not better than the chosen set.
     *
     * @param with of the sets with the operator, the one nearest to the chosen set
     * @param chosen the chosen set
     * @param objective the figure to minimize
     */
    record NotWorth(Entry.Measured with, Entry.Measured chosen, Objective objective)
            implements Verdict {

        /** Returns how much slower the set with the operator is; negative if it is faster. */
        public long slowerNanos() {
            return with.latency().medianNanos() - chosen.latency().medianNanos();
        }

        /**
         * Returns how much more memory the set with the operator takes; negative if it takes less.
         */
        public long moreBytes() {
            return with.memoryBytes() - chosen.memoryBytes();
        }

        @Override
        public String kind() {
            return "not worth it";
        }

        @Override
        public String reason() {
            return text(
                    "%s (%.3f ms %s, %.3f as chosen)",
                    costs(),
                    with.latency().medianNanos() / NANOS_PER_MILLI,
                    where(with),
                    chosen.latency().medianNanos() / NANOS_PER_MILLI);
        }

        private String costs() {
            String millis = text("%.3f ms", Math.abs(slowerNanos()) / NANOS_PER_MILLI);
            if (objective != Objective.LATENCY) {
                String megabytes = text("%.1f MB", Math.abs(moreBytes()) / BYTES_PER_MEGABYTE);
                return millis
                        + (slowerNanos() > 0 ? " slower, " : " faster, ")
                        + megabytes
                        + (moreBytes() > 0 ? " more" : " less");
            }
            return slowerNanos() > 0 ? millis + " slower" : "not faster beyond the noise";
        }
    }

    /**
     * A set with the operator was measured and exceeds the memory limit.
     *
     * @param with of the sets with the operator, the one nearest to the chosen set
     * @param limitBytes the memory limit
     */
    record OverLimit(Entry.Measured with, long limitBytes) implements Verdict {
        @Override
        public String kind() {
            return "over the limit";
        }

        @Override
        public String reason() {
            return text(
                    "%.1f MB %s, where %.1f may be",
                    with.memoryBytes() / BYTES_PER_MEGABYTE,
                    where(with),
                    limitBytes / BYTES_PER_MEGABYTE);
        }
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
    record OutsideTolerance(
            Entry.Wrong with, ElementType type, double difference, double limit, boolean spread)
            implements Verdict {
        @Override
        public String kind() {
            return "outside the tolerance";
        }

        @Override
        public String reason() {
            String differs = "an output differs by " + amount(difference);
            return difference <= limit
                    ? text("%s in too many elements, %s", differs, where(with))
                    : text(
                            "%s%s %s, where %s is accepted",
                            differs, spread ? " on the whole" : "", where(with), amount(limit));
        }

        private String amount(double of) {
            return switch (type) {
                case FLOAT16, FLOAT32, FLOAT64 -> text("%.1e", of);
                case INT8, UINT8, INT16, UINT16 -> of == 1 ? "one step" : text("%.0f steps", of);
                default -> text("%.0f elements", of);
            };
        }
    }

    /**
     * In sets with this operator, some operator computes other values than its CPU kernel.
     *
     * @param with the smallest of these sets
     * @param worst the worst operator of the set
     */
    record WrongOperator(Entry.Wrong with, OutputError.ByOperator worst) implements Verdict {
        @Override
        public String kind() {
            return "outside the tolerance";
        }

        @Override
        public String reason() {
            return Double.isInfinite(worst.share())
                    ? text("outputs are not what its operators compute one by one, %s", where(with))
                    : text(
                            "operator %d differs by %.1f times what is accepted of one, %s",
                            worst.operator(), worst.share(), where(with));
        }
    }

    /**
     * Sets with the operator do not run.
     *
     * @param with the smallest of these sets
     */
    record Failed(Entry.Failed with) implements Verdict {
        @Override
        public String kind() {
            return "failed";
        }

        @Override
        public String reason() {
            String message = with.message().lines().findFirst().orElse("").strip();
            return text(
                    "%s %s%s",
                    how(with.kind()), where(with), message.isEmpty() ? "" : ": " + message);
        }

        private static String how(CandidateException.Kind kind) {
            return switch (kind) {
                case REFUSED -> "refused";
                case CRASHED -> "crashed";
                case TIMED_OUT -> "timed out";
            };
        }
    }

    /** The delegate supports the operator, but no set with it was tried. */
    record Untried() implements Verdict {
        @Override
        public String kind() {
            return "not tried";
        }

        @Override
        public String reason() {
            return "no set that has it was measured in the time";
        }
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static String where(Entry with) {
        int count = with.candidate().operators().size();
        return count == 1 ? "alone" : "in a set of " + count + " operators";
    }
}
