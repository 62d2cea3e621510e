package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
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

    /** Predictions with the inputs that the model describes. */
    static final Warmup AS_DESCRIBED = new Warmup(true, List.of());

    public Warmup {
        inputShapes = ImmutableList.copyOf(inputShapes);
        checkArgument(enabled || inputShapes.isEmpty(), "shapes of no inputs: %s", inputShapes);
    }

    /**
     * Reads the value of {@code memplan.warmup}.
     *
     * @throws IllegalArgumentException if the value is wrong
     */
    static Warmup parse(String value) {
        if (value.equalsIgnoreCase("false")) {
            return NONE;
        }
        if (value.equalsIgnoreCase("true")) {
            return AS_DESCRIBED;
        }
        return InputShape.parseAll(value)
                .filter(shapes -> !shapes.isEmpty())
                .map(shapes -> new Warmup(true, shapes))
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        OptionKey.WARMUP.key()
                                                + "="
                                                + value
                                                + ": must be true, false, or shapes such as"
                                                + " 1,3,224,224;1,128:int64"));
    }
}
