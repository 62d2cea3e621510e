package org.djlplan.memplan.config;

import com.google.common.base.Splitter;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.djlplan.memplan.machine.Machine;

/**
 * The party that may set an option. DJL merges the arguments of the application with those of the
 * model's folder, so a value in arguments may come from the folder, which is not trusted: options
 * that load code, name files, fill a disk or exceed the machine must come from the application.
 */
public enum Origin {
    /** Any value may come from arguments. */
    ANYONE("anyone"),
    /** Threads or other things of which one core runs one at a time. */
    UP_TO_THE_CORES("anyone up to the machine's cores, the application beyond"),
    /** A waiting time with its unit, possibly after a colon. */
    UP_TO_A_MINUTE("anyone up to one minute, the application beyond"),
    /** A size with its unit, possibly followed by a colon. */
    UP_TO_THE_MEMORY("anyone up to the machine's memory, the application beyond"),
    /** Shapes of arrays that are allocated together. */
    SHAPES_UP_TO_THE_MEMORY("anyone up to the machine's memory, the application beyond"),
    /**
     * An option that loads code, names a file, fills a disk or affects other models: arguments may
     * only contain its default.
     */
    APPLICATION("the application");

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /** No option accepts a longer time. */
    private static final Duration LONGEST = Duration.ofDays(365);

    /** Size of DJL's largest element type. */
    private static final double MOST_ELEMENT_BYTES = 8;

    private final String text;

    Origin(String text) {
        this.text = text;
    }

    /**
     * Returns why a value is rejected in arguments, and how to set it instead; empty if it is
     * accepted. An unparsable value is accepted here, because parsing it reports the error.
     */
    Optional<String> refusal(Option option, String value) {
        if (admits(option, value.trim())) {
            return Optional.empty();
        }
        return Optional.of(
                ("%1$s=%2$s: not in DJL's arguments, which a model's folder can write, too (who may"
                                + " set it: %3$s). The application sets it by -D%4$s%1$s=%2$s or"
                                + " PlannedTranslatorFactory.with(\"%1$s\", \"%2$s\")")
                        .formatted(
                                option.key(),
                                Masked.text(value),
                                text,
                                GivenOptions.PROPERTY_PREFIX));
    }

    private boolean admits(Option option, String value) {
        return switch (this) {
            case ANYONE -> true;
            case APPLICATION -> value.equals(option.defaultValue());
            case UP_TO_THE_CORES -> atMost(number(value), Machine.cores());
            case UP_TO_A_MINUTE -> atMost(millis(value), LONGEST_WAIT.toMillis());
            case UP_TO_THE_MEMORY -> atMost(bytes(value), memoryBytes());
            case SHAPES_UP_TO_THE_MEMORY -> atMost(bytesOfShapes(value), memoryBytes());
        };
    }

    private static boolean atMost(OptionalDouble amount, long most) {
        return amount.isEmpty() || !(amount.getAsDouble() > most);
    }

    private static OptionalDouble number(String value) {
        return Quantities.number(value).stream().mapToDouble(BigDecimal::doubleValue).max();
    }

    private static OptionalDouble millis(String value) {
        String time = value.substring(value.lastIndexOf(':') + 1);
        return Quantities.duration(time, LONGEST).stream().mapToDouble(Duration::toMillis).max();
    }

    private static OptionalDouble bytes(String value) {
        String size = Splitter.on(':').splitToList(value).get(0);
        return Quantities.bytes(size).stream().mapToDouble(Long::doubleValue).max();
    }

    private static OptionalDouble bytesOfShapes(String value) {
        return InputShape.parseAll(value).stream().mapToDouble(Origin::bytes).max();
    }

    private static double bytes(List<InputShape> shapes) {
        double bytes = 0;
        for (InputShape shape : shapes) {
            double ofArray = MOST_ELEMENT_BYTES;
            for (long dimension : shape.shape()) {
                ofArray *= dimension;
            }
            bytes += ofArray;
        }
        return bytes;
    }

    /** If the memory size cannot be read, nothing is too large. */
    private static long memoryBytes() {
        return new Machine().memoryBytes().orElse(Long.MAX_VALUE);
    }

    /** Returns who may set it, for people. */
    @Override
    public String toString() {
        return text;
    }
}
