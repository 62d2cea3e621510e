package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Predictions while a model is loaded, for recording and planning.
 *
 * @param enabled whether there are any
 * @param inputShapes the predictions' inputs; empty for those that the model describes
 */
public record Warmup(boolean enabled, List<InputShape> inputShapes) {

    /** No predictions. */
    static final Warmup NONE = new Warmup(false, List.of());

    public Warmup {
        inputShapes = ImmutableList.copyOf(inputShapes);
        checkArgument(enabled || inputShapes.isEmpty(), "shapes of no inputs: %s", inputShapes);
    }

    /** Returns the warm-up of an option's value, if the value is right. */
    static Optional<Warmup> of(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "false" -> Optional.of(NONE);
            case "true" -> Optional.of(new Warmup(true, List.of()));
            default ->
                    InputShape.parseAll(value)
                            .filter(shapes -> !shapes.isEmpty())
                            .map(shapes -> new Warmup(true, shapes));
        };
    }
}
