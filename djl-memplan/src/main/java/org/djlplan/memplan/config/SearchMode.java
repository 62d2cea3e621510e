package org.djlplan.memplan.config;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The time at which a plan above its lower bound is searched for a smaller one. */
public sealed interface SearchMode {

    /** What users write for it: an example of each choice. */
    List<String> EXAMPLES = List.of("background", "off", "1s");

    /** The longest time for which loading may wait. */
    Duration LONGEST = Duration.ofHours(1);

    /** How long a search in the background may take. */
    Duration BACKGROUND_LIMIT = Duration.ofSeconds(10);

    /** Never; nor are plans used that were found before. */
    record Off() implements SearchMode {}

    /** After loading, by one thread for all models; the plan is used from the next load on. */
    record Background() implements SearchMode {}

    /**
     * While loading; the plan is used at once.
     *
     * @param limit how long the search takes at most
     */
    record AtLoad(Duration limit) implements SearchMode {

        public AtLoad {
            checkArgument(limit.compareTo(Duration.ZERO) > 0, "a search of %s", limit);
        }
    }

    /** Returns how long a search may take. */
    default Duration limit() {
        return BACKGROUND_LIMIT;
    }

    /** Returns the choice that users write as {@code text}, or empty if there is none. */
    static Optional<SearchMode> of(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "off" -> Optional.of(new Off());
            case "background" -> Optional.of(new Background());
            default -> Quantities.duration(text, LONGEST).map(AtLoad::new);
        };
    }
}
