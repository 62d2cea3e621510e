package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A precision of weights that a user permits, and how close outputs must then be to stock's.
 *
 * <p>Closeness is stated as the cosine <i>c</i> of the angle between an output and stock's, as is
 * usual for embeddings. Two vectors of the same length and this cosine differ by √(2 (1 − c)) of
 * that length; this is the limit for the relative error, which also detects a wrong length.
 *
 * @param name for example {@code int8}; also the name of the recipe that makes such weights
 * @param leastCosine the least accepted cosine, for each request and output
 */
public record Precision(String name, double leastCosine) {

    /** The precision of the model's file. */
    public static final Precision FLOAT32 = new Precision("float32", 1);

    /** The least cosines by default. */
    private static final ImmutableMap<String, Double> LOWER =
            ImmutableMap.of("float16", 0.9999, "bfloat16", 0.999, "int8", 0.97);

    private static final double LEAST = 0.5;

    private static final Pattern TEXT =
            Pattern.compile("([a-z]+[0-9]+)(?::([0-9]\\.?[0-9]{0,9}))?");

    public Precision {
        checkArgument(leastCosine >= LEAST && leastCosine <= 1, "cosine: %s", leastCosine);
    }

    /**
     * Parses a precision and an optional limit, such as {@code int8} or {@code int8:0.98}.
     *
     * @return empty if it is something else
     */
    public static Optional<Precision> parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        String name = parts.group(1);
        if (parts.group(2) == null) {
            return name.equals(FLOAT32.name)
                    ? Optional.of(FLOAT32)
                    : Optional.ofNullable(LOWER.get(name)).map(least -> new Precision(name, least));
        }
        double least = Double.parseDouble(parts.group(2));
        return LOWER.containsKey(name) && least >= LEAST && least <= 1
                ? Optional.of(new Precision(name, least))
                : Optional.empty();
    }

    /** Returns whether it is lower than that of the model's file. */
    public boolean isLower() {
        return !name.equals(FLOAT32.name);
    }

    /** Returns the tolerance for outputs of weights in this precision. */
    public Tolerance tolerance() {
        return Tolerance.of(Math.sqrt(2 * (1 - leastCosine)));
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return isLower() ? name + ':' + leastCosine : name;
    }
}
