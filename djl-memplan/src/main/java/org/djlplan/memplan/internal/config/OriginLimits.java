package org.djlplan.memplan.internal.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.spi.Option;
import org.djlplan.thirdparty.guava.base.Splitter;

/** Limits the values to which arguments from a model's folder may set an option. */
final class OriginLimits {

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /** No option accepts a longer time. */
    private static final Duration LONGEST = Duration.ofDays(365);

    /** Size of DJL's largest element type. */
    private static final double MOST_ELEMENT_BYTES = 8;

    private OriginLimits() {}

    /**
     * Returns why a value is rejected in arguments, and how to set it instead; empty if it is
     * accepted. An unparsable value is accepted here, because parsing it reports the error.
     */
    static Optional<String> refusal(Option option, String value) {
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
                                option.origin(),
                                GivenOptions.PROPERTY_PREFIX));
    }

    private static boolean admits(Option option, String value) {
        return switch (option.origin()) {
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
        Optional<BigDecimal> number = Quantities.number(value);
        return number.isPresent()
                ? OptionalDouble.of(number.get().doubleValue())
                : OptionalDouble.empty();
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
        return InputShape.parseAll(value).stream().mapToDouble(OriginLimits::bytes).max();
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
        return new Machine().memoryRoom().limitBytes();
    }
}
