package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.function.Function;
import org.djlplan.memplan.internal.config.Quantities;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A picocli converter that calls a function, whose {@link IllegalArgumentException} says what is
 * wrong with a text. Values of some types always have the same form; {@link #register} registers
 * their converters.
 */
class Parsed<T> implements ITypeConverter<T> {

    private final Function<String, T> parser;

    Parsed(Function<String, T> parser) {
        this.parser = parser;
    }

    @Override
    public final T convert(String text) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /** Parses a number from 1 on. */
    static final class Positive extends Parsed<Integer> {

        Positive() {
            super(text -> Ints.saturatedCast(atLeast(1, text)));
        }
    }

    /** Parses a number from 0 on. */
    static final class NotNegative extends Parsed<Integer> {

        NotNegative() {
            super(text -> Ints.saturatedCast(atLeast(0, text)));
        }
    }

    /** Parses a number of bytes from 0 on. */
    static final class Bytes extends Parsed<Long> {

        Bytes() {
            super(text -> atLeast(0, text));
        }
    }

    private static long atLeast(int least, String text) {
        Long number = Longs.tryParse(text);
        checkArgument(
                number != null && number >= least, "must be at least %s, not '%s'", least, text);
        return number;
    }

    /** Parses a time as in a model's options: {@code 30s}, {@code 500ms}; or {@code 0s}. */
    private static Duration time(String text) {
        return text.equals("0s")
                ? Duration.ZERO
                : Quantities.duration(text, Duration.ofDays(1))
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "'%s' is no time from 0s to 24h, such as 30s or 500ms"
                                                        .formatted(text)));
    }

    /** Lets a command and its subcommands parse values of types that have one form everywhere. */
    static CommandLine register(CommandLine line) {
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(
                        BudgetSweep.Wanted.class, new Parsed<>(BudgetSweep.Wanted::parse))
                .registerConverter(Duration.class, new Parsed<>(Parsed::time))
                .registerConverter(InputSpec.class, new Parsed<>(InputSpec::parse))
                .registerConverter(ModelRef.class, new Parsed<>(ModelRef::parse))
                .registerConverter(Rival.class, new Parsed<>(Rival::parse));
    }
}
