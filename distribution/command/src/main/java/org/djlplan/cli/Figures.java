package org.djlplan.cli;

import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.djlplan.memplan.spi.OutputError;

/** Formats figures with their units, for people. */
final class Figures {

    /** Shown in place of a figure that is unknown or does not apply. */
    static final String ABSENT = "–";

    private static final double BYTES_PER_MEGA = 1e6;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BYTES_PER_MEBI = 1 << 20;

    private Figures() {}

    static double inMillis(long nanos) {
        return nanos / NANOS_PER_MILLI;
    }

    static double inSeconds(long nanos) {
        return nanos / NANOS_PER_SECOND;
    }

    static String millis(long nanos) {
        return format("%.3f ms", inMillis(nanos));
    }

    static String seconds(long nanos) {
        return format("%.1f s", inSeconds(nanos));
    }

    static String mebibytes(long bytes) {
        return format("%.2f MiB", bytes / BYTES_PER_MEBI);
    }

    /** Returns memory in MB, 10⁶ bytes, without the unit. */
    static String megabytes(long bytes) {
        return format("%.1f", bytes / BYTES_PER_MEGA);
    }

    static String megabytes(OptionalLong bytes) {
        return bytes.isPresent() ? megabytes(bytes.getAsLong()) : ABSENT;
    }

    /** Returns memory, or a dash if the system does not report it. */
    static String memory(long bytes) {
        return bytes == 0 ? ABSENT : mebibytes(bytes);
    }

    /** Returns what runs where, as the heading of a table. */
    static String title(String model, String engine, OptionalInt threads, String more) {
        String given = threads.isPresent() ? ", threads: " + threads.getAsInt() : "";
        return "%s (%s%s%s)".formatted(model, engine, given, more);
    }

    /** Returns a number of threads for use in a sentence; −1 is the engine's default. */
    static String threads(int threads) {
        return threads == -1 ? "the engine's own" : Integer.toString(threads);
    }

    /** Returns the largest error of the outputs of each kind. */
    static String error(List<OutputError> errors) {
        return errors.isEmpty()
                ? ABSENT
                : new OutputDifference(
                                true,
                                true,
                                errors.stream()
                                        .map(
                                                error ->
                                                        new OutputDifference.Output(
                                                                error.type(), error.difference()))
                                        .toList())
                        .text();
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
