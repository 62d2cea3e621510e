package org.djlplan.memplan.internal.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.djlplan.memplan.report.PlanReport;

/**
 * The memory that a model's predictions needed: the recent ones by the size of their inputs, where
 * sizes between two powers of two count as one; the largest one; and those above a limit.
 * Thread-safe.
 */
public final class NeededMemory {

    /** A peak covers at least so many predictions, and less than twice as many. */
    static final int PREDICTIONS = 32;

    /** How many sizes of inputs above the limit are known. */
    private static final int MOST_ABOVE = 32;

    /** The index is the length of the number of input elements in bits. */
    private final Peak[] peaks = new Peak[Long.SIZE + 1];

    private final ProcessPeak process = new ProcessPeak();
    private Above largest = new Above(InputSizes.UNKNOWN, 0);
    private long limitBytes = Long.MAX_VALUE;

    /** Predictions that needed more than the limit; the newest is the last. */
    private final List<Above> above = new ArrayList<>();

    /**
     * A prediction that needed much memory.
     *
     * @param sizes of its inputs
     * @param bytes that it needed
     */
    public record Above(InputSizes sizes, long bytes) {}

    /** The most memory that recent predictions of a size needed. */
    private static final class Peak {
        private long before;
        private long now;
        private int count;

        private void note(long bytes) {
            now = Math.max(now, bytes);
            count++;
            if (count == PREDICTIONS) {
                before = now;
                now = 0;
                count = 0;
            }
        }

        private long bytes() {
            return Math.max(before, now);
        }
    }

    /** The most memory that this process had since the model was loaded. */
    private static final class ProcessPeak {

        private final ProcessMemory process = new ProcessMemory();

        /** The system's high-water mark at the beginning; it may date from before. */
        private final OptionalLong before = process.peakBytes();

        private long sampledBytes;

        /** Notes the current memory, because the system's high-water mark may be an older one. */
        void sample() {
            sampledBytes = Math.max(sampledBytes, process.residentBytes().orElse(0));
        }

        /**
         * Returns the most bytes in memory. If the process had more before, returns the most of the
         * samples, and of now. Empty if the system does not report it.
         */
        OptionalLong bytes() {
            OptionalLong mark = process.peakBytes();
            if (mark.isEmpty() || before.isEmpty() || mark.getAsLong() > before.getAsLong()) {
                return mark;
            }
            sample();
            return LongStream.of(sampledBytes).filter(bytes -> bytes > 0).max();
        }
    }

    /** Sets the limit above which predictions are remembered for {@link #above}. */
    public synchronized void setLimit(long bytes) {
        limitBytes = bytes;
    }

    /**
     * Notes how much memory a prediction needed.
     *
     * @param sizes of its inputs
     */
    public synchronized void note(InputSizes sizes, long bytes) {
        int index = index(sizes.elements());
        if (peaks[index] == null) {
            peaks[index] = new Peak();
        }
        peaks[index].note(bytes);
        if (bytes > largest.bytes()) {
            largest = new Above(sizes, bytes);
            process.sample();
        }
        if (bytes > limitBytes) {
            // Larger inputs need not be known beside these.
            above.removeIf(each -> each.sizes().enclose(sizes));
            above.add(new Above(sizes, bytes));
            if (above.size() > MOST_ABOVE) {
                above.remove(0);
            }
        }
    }

    /**
     * Returns the most bytes that recent predictions of this size needed. If there were none, the
     * next larger size counts; {@link Long#MAX_VALUE} if no such size occurred.
     *
     * @param elements number of elements of its inputs
     */
    public synchronized long expectedBytes(long elements) {
        for (int index = index(elements); index < peaks.length; index++) {
            if (peaks[index] != null) {
                return peaks[index].bytes();
            }
        }
        return Long.MAX_VALUE;
    }

    /**
     * Returns an earlier prediction that needed more than the limit although no dimension of its
     * inputs was longer; empty if there was none.
     */
    public synchronized Optional<Above> above(InputSizes sizes) {
        return above.stream().filter(each -> sizes.enclose(each.sizes())).findFirst();
    }

    /** Returns the prediction that needed most memory, for a report; empty if there was none. */
    public synchronized Optional<PlanReport.Peak> peak() {
        if (largest.bytes() == 0) {
            return Optional.empty();
        }
        OptionalLong processBytes = process.bytes();
        return Optional.of(
                new PlanReport.Peak(largest.bytes(), largest.sizes().shapes(), processBytes));
    }

    private static int index(long elements) {
        return Long.SIZE - Long.numberOfLeadingZeros(elements);
    }
}
