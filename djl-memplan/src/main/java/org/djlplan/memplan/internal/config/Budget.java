package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The memory that a model may take in addition to the memory of the idle runtime. */
public sealed interface Budget {

    /** The valid forms, for messages. */
    String ALLOWED =
            "none, auto, a size with its unit such as 64MB, or a share of stock such as 25%";

    /** No limit. */
    record Unlimited() implements Budget {
        @Override
        public String toString() {
            return "none";
        }
    }

    /** A number of bytes. */
    record Bytes(long bytes) implements Budget {
        public Bytes {
            checkArgument(bytes > 0, "a budget of %s bytes", bytes);
        }

        @Override
        public String toString() {
            return Long.toString(bytes);
        }
    }

    /** A fraction of the stock engine's memory for the model: more than 0, at most 1. */
    record ShareOfStock(double share) implements Budget {

        private static final Pattern TEXT = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,18})?)\\s*%");

        public ShareOfStock {
            checkArgument(share > 0 && share <= 1, "a budget of %s of stock", share);
        }

        private static Optional<Budget> of(String text) {
            Matcher matcher = TEXT.matcher(text);
            return matcher.matches()
                    ? Optional.of(Double.parseDouble(matcher.group(1)) / 100)
                            .filter(share -> share > 0 && share <= 1)
                            .map(ShareOfStock::new)
                    : Optional.empty();
        }

        @Override
        public String toString() {
            BigDecimal percent = BigDecimal.valueOf(share).movePointRight(2);
            return percent.stripTrailingZeros().toPlainString() + "%";
        }
    }

    /** The memory that the container has left; adjusted when this amount changes. */
    record Auto() implements Budget {
        @Override
        public String toString() {
            return "auto";
        }
    }

    /** Parses a budget as users write it; empty if the text is malformed. */
    static Optional<Budget> of(String text) {
        return switch (text.trim().toLowerCase(Locale.ROOT)) {
            case "none" -> Optional.of(new Unlimited());
            case "auto" -> Optional.of(new Auto());
            default ->
                    ShareOfStock.of(text.trim()).or(() -> Quantities.bytes(text).map(Bytes::new));
        };
    }
}
