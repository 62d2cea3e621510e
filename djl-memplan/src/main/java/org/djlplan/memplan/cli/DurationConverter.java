package org.djlplan.memplan.cli;

import java.time.Duration;
import org.djlplan.memplan.config.Quantities;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time as the options of a model do: {@code 30s}, {@code 500ms}. */
final class DurationConverter implements ITypeConverter<Duration> {

    @Override
    public Duration convert(String text) {
        return Quantities.duration(text)
                .orElseThrow(
                        () ->
                                new TypeConversionException(
                                        "'" + text + "' is no time such as 30s or 500ms"));
    }
}
