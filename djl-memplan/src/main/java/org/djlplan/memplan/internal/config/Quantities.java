package org.djlplan.memplan.internal.config;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** Parses sizes and durations as users write them. */
public final class Quantities {

    /**
     * A number with a unit; the number may have an exponent, because JSON's large numbers arrive in
     * this form.
     */
    private static final Pattern TEXT =
            Pattern.compile("(\\d{1,18}(?:\\.\\d{1,18})?(?:[eE]\\d{1,2})?)\\s*([a-zA-Z]*)");

    private static final Pattern NUMBER =
            Pattern.compile("[+-]?\\d{1,18}(?:\\.\\d{1,18})?(?:[eE][+-]?\\d{1,3})?");

    private static final Map<String, Long> BYTES =
            ImmutableMap.<String, Long>builder()
                    .put("", 1L)
                    .put("b", 1L)
                    .put("kb", 1_000L)
                    .put("kib", 1L << 10)
                    .put("mb", 1_000_000L)
                    .put("mib", 1L << 20)
                    .put("gb", 1_000_000_000L)
                    .put("gib", 1L << 30)
                    .buildOrThrow();

    /** A smaller number of bytes needs a unit: 64 was meant as 64MB. */
    private static final long LEAST_BYTES_WITHOUT_UNIT = 1_000_000;

    private static final Map<String, Long> MILLIS =
            ImmutableMap.of("ms", 1L, "s", 1_000L, "m", 60_000L, "min", 60_000L, "h", 3_600_000L);

    private Quantities() {}

    /**
     * Parses a positive number of bytes, such as 64MB, 64MiB or 1.5GB; empty also for a number
     * below a million without a unit.
     */
    public static Optional<Long> bytes(String text) {
        boolean hasUnit = text.trim().matches(".*[a-zA-Z]");
        return parse(text, BYTES, Long.MAX_VALUE)
                .filter(bytes -> hasUnit || bytes >= LEAST_BYTES_WITHOUT_UNIT);
    }

    /** Parses a duration from 1 millisecond to {@code most}, such as 10s or 500ms. */
    public static Optional<Duration> duration(String text, Duration most) {
        return parse(text, MILLIS, most.toMillis()).map(Duration::ofMillis);
    }

    /** Parses a decimal number, such as 2.0 or 1e-3, but not Java's other forms. */
    public static Optional<BigDecimal> number(String text) {
        String trimmed = text.trim();
        return NUMBER.matcher(trimmed).matches()
                ? Optional.of(new BigDecimal(trimmed))
                : Optional.empty();
    }

    /** Parses a 32-bit integer; metadata is JSON, whose numbers arrive as 2.0. */
    public static Optional<Integer> wholeNumber(String text) {
        Optional<BigDecimal> number = number(text);
        if (number.isEmpty() || number.get().stripTrailingZeros().scale() > 0) {
            return Optional.empty();
        }
        BigInteger whole = number.get().toBigInteger();
        return whole.bitLength() < Integer.SIZE ? Optional.of(whole.intValue()) : Optional.empty();
    }

    private static Optional<Long> parse(String text, Map<String, Long> units, long most) {
        Matcher matcher = TEXT.matcher(text.trim());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.ofNullable(units.get(matcher.group(2).toLowerCase(Locale.ROOT)))
                .map(unit -> product(matcher.group(1), unit))
                .filter(number -> number.signum() > 0)
                .filter(number -> number.compareTo(BigInteger.valueOf(most)) <= 0)
                .map(BigInteger::longValueExact);
    }

    /** Fractions of a byte or of a millisecond are dropped. */
    private static BigInteger product(String number, long unit) {
        return new BigDecimal(number).multiply(BigDecimal.valueOf(unit)).toBigInteger();
    }
}
