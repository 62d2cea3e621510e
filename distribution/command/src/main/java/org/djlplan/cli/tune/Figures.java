package org.djlplan.cli.tune;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.OutputError;

/** Formats figures with their units, for people. */
final class Figures {

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BYTES_PER_KIBI = 1 << 10;
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

    static String kibibytes(long bytes) {
        return format("%.1f KiB", bytes / BYTES_PER_KIBI);
    }

    /** Returns memory, or a dash if the system does not report it. */
    static String memory(long bytes) {
        return bytes == 0 ? "–" : mebibytes(bytes);
    }

    /** Returns a number of threads for use in a sentence; −1 is the engine's default. */
    static String threads(int threads) {
        return threads == -1 ? "the engine's own" : Integer.toString(threads);
    }

    /**
     * Returns the largest error of the outputs of each kind: relative, in steps, or in elements.
     */
    static String error(List<OutputError> errors) {
        List<String> parts = new ArrayList<>();
        worst(errors, Figures::isFloat, "%.1e", parts);
        worst(errors, Figures::isQuantized, "%.0f steps", parts);
        worst(errors, type -> !isFloat(type) && !isQuantized(type), "%.0f elements", parts);
        return parts.isEmpty() ? "–" : String.join(", ", parts);
    }

    private static void worst(
            List<OutputError> errors,
            Predicate<ElementType> kind,
            String format,
            List<String> parts) {
        errors.stream()
                .filter(error -> kind.test(error.type()))
                .mapToDouble(OutputError::difference)
                .max()
                .ifPresent(worst -> parts.add(worst == 0 ? "0" : format(format, worst)));
    }

    private static boolean isFloat(ElementType type) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
    }

    private static boolean isQuantized(ElementType type) {
        return switch (type) {
            case INT8, UINT8, INT16, UINT16 -> true;
            default -> false;
        };
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
