package org.djlplan.cli;

import java.time.Duration;
import org.djlplan.memplan.internal.config.Quantities;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a time as in a model's options: {@code 30s}, {@code 500ms}; or {@code 0s}. */
final class DurationConverter implements ITypeConverter<Duration> {

    private static final Duration MOST = Duration.ofDays(1);

    @Override
    public Duration convert(String text) {
        if (text.equals("0s")) {
            return Duration.ZERO;
        }
        return Quantities.duration(text, MOST)
                .orElseThrow(
                        () ->
                                new TypeConversionException(
                                        "'"
                                                + text
                                                + "' is no time from 0s to 24h, such as 30s or"
                                                + " 500ms"));
    }
}
