package org.djlplan.memplan.internal.config;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An input shape as users write it, such as {@code 1,3,224,224}, {@code 1,128:int64} or {@code
 * scalar:int64}.
 *
 * @param shape the dimensions; none for a scalar
 * @param dataType the element type by DJL's name, in lower case; float32 by default
 */
public record InputShape(List<Long> shape, String dataType) {

    private static final String SCALAR = "scalar";

    private static final Pattern TEXT =
            Pattern.compile("(" + SCALAR + "|\\d{1,10}(?:,\\d{1,10})*)(?::([a-zA-Z]\\w*))?");

    public InputShape {
        shape = ImmutableList.copyOf(shape);
    }

    /** Parses inputs separated by semicolons; empty if one is malformed. */
    public static Optional<List<InputShape>> parseAll(String text) {
        ImmutableList.Builder<InputShape> all = ImmutableList.builder();
        for (String input : Splitter.on(';').omitEmptyStrings().trimResults().split(text)) {
            Matcher matcher = TEXT.matcher(input.replace(" ", ""));
            if (!matcher.matches()) {
                return Optional.empty();
            }
            String type = Optional.ofNullable(matcher.group(2)).orElse("float32");
            all.add(new InputShape(shape(matcher.group(1)), type.toLowerCase(Locale.ROOT)));
        }
        return Optional.of(all.build());
    }

    private static List<Long> shape(String dimensions) {
        return dimensions.equals(SCALAR)
                ? List.of()
                : Splitter.on(',').splitToStream(dimensions).map(Long::valueOf).toList();
    }
}
