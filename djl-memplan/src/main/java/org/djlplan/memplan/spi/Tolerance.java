package org.djlplan.memplan.spi;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.OptionalDouble;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * The accepted difference from the CPU kernels' outputs.
 *
 * <p>A correct delegate computes the same with other roundings. How much roundings change an output
 * depends on the model: a model that amplifies the last bit of its inputs a thousand times also
 * amplifies the last bit of intermediate results. So a floating-point output is accepted if both
 * its largest and its Euclidean deviation are at most
 *
 * <pre>max(1e-4, min(2e-3, 16 n), min(1e-2, 8 n))</pre>
 *
 * where n is the CPU kernels' own deviation when every input changes by one unit in its last place:
 * the conditioning of the model in the sense of backward error analysis (Higham 2002, section 1.6).
 * For outputs between 0 and 1, the last term's 1e-2 applies to the whole range (see {@link
 * OutputError#headroom}): a score of 1e-7 may be off by some percent of itself.
 *
 * <p>Quantized outputs are compared in steps. One step is a rounding; four steps in one element of
 * a hundred are accepted, too, if the largest element of a vector stays the same. Beyond that, up
 * to ten steps are accepted if the CPU kernels' own output changes at least as much when every
 * input changes by one step: by the largest difference, by the share of elements, and by how often
 * another element becomes the largest. Integer kernels round the sums of each layer to steps, and
 * two correct kernels may round differently. Other types must be equal.
 *
 * <p>In 8-bit models such roundings grow from layer to layer. That includes models with 8-bit
 * weights whose kernels quantize the floats between the layers at run time. For them the delegate's
 * operators are compared one by one, each with its CPU kernel on the same values (see {@link
 * ByOperator}). If all operators are correct, outputs may differ by four steps, or 1e-2, and beyond
 * that by twice the change of the CPU kernels' own outputs when every input changes by one 8-bit
 * step.
 *
 * <p>A candidate with weights in a lower precision, which the user permits, has the limit of {@link
 * Precision} instead.
 *
 * @param hard the user's limit for floating-point types; quantized outputs may then differ by one
 *     step. Empty for the rule above
 * @param precision of the weights that the user permits
 */
public record Tolerance(OptionalDouble hard, Precision precision) {

    private static final String AUTO_TEXT = "auto";
    private static final String PERMITS = ", ";

    /** The rule. */
    public static final Tolerance AUTO = new Tolerance(OptionalDouble.empty(), Precision.FLOAT32);

    /** Changes with the rule; results of an older rule are not accepted. */
    public static final int VERSION = 6;

    private static final Deviation ANY =
            new Deviation(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Integer.MAX_VALUE);

    /** For any model. */
    private static final double LEAST = 1e-4;

    /** A deviation of this size is small for any use; up to it the noise may be underestimated. */
    private static final double SMALL = 2e-3;

    private static final double NOISES_WHILE_SMALL = 16;

    private static final double NOISES = 8;

    /** The limit for any model, however ill-conditioned. */
    private static final double MOST = 1e-2;

    /** If operators are correct, their roundings add to the roundings of the inputs. */
    private static final double NOISES_BY_OPERATOR = 2;

    /** This many steps are accepted for few elements, in any model. */
    private static final double FEW_STEPS = 4;

    private static final double FEW_ELEMENTS = .01;

    /** The limit for any model, however ill-conditioned: 4 % of the 8-bit range. */
    private static final double MOST_STEPS = 10;

    public Tolerance {
        checkArgument(hard.isEmpty() || hard.getAsDouble() >= 0, "hard: %s", hard);
    }

    /** Returns the tolerance with the user's limit. */
    public static Tolerance of(double hard) {
        return new Tolerance(OptionalDouble.of(hard), Precision.FLOAT32);
    }

    /**
     * Parses the result of {@link #toString}.
     *
     * @throws IllegalArgumentException if it is something else
     */
    public static Tolerance parse(String text) {
        List<String> parts = Splitter.on(PERMITS).splitToList(text);
        Tolerance full =
                parts.get(0).equals(AUTO_TEXT) ? AUTO : of(Double.parseDouble(parts.get(0)));
        return parts.size() == 1
                ? full
                : full.with(
                        Precision.parse(parts.get(1)).orElseThrow(IllegalArgumentException::new));
    }

    /** Returns this tolerance for a user who permits a precision. */
    public Tolerance with(Precision permitted) {
        return new Tolerance(hard, permitted);
    }

    /** Returns the tolerance for the outputs of a candidate. */
    public Tolerance of(Candidate candidate) {
        return isLower(candidate) ? precision.tolerance() : this;
    }

    /** Returns whether a candidate's weights are in the lower precision that the user permits. */
    public boolean isLower(Candidate candidate) {
        return precision.isLower() && candidate.recipe().equals(precision.name());
    }

    /** Returns the largest accepted deviation of an output. */
    public double limit(OutputError error) {
        double noise = error.noise().largest();
        boolean byOperator = error.byOperator().isPresent();
        return switch (error.type()) {
            case FLOAT16, FLOAT32, FLOAT64 ->
                    byOperator
                            ? Math.max(MOST * error.headroom(), NOISES_BY_OPERATOR * noise)
                            : limit(noise, error.headroom());
            case INT8, UINT8, INT16, UINT16 ->
                    hard.isPresent()
                            ? 1
                            : Math.max(
                                    FEW_STEPS,
                                    byOperator ? NOISES_BY_OPERATOR * noise : steps(noise));
            default -> 0;
        };
    }

    private static double steps(double noise) {
        return Math.min(MOST_STEPS, noise);
    }

    private double limit(double noise, double headroom) {
        return hard.orElseGet(
                () ->
                        Math.max(
                                LEAST,
                                Math.max(
                                        Math.min(SMALL, NOISES_WHILE_SMALL * noise),
                                        Math.min(MOST * headroom, NOISES * noise))));
    }

    /** Returns whether an output is accepted. */
    public boolean admits(OutputError error) {
        Deviation deviation = error.deviation();
        if (deviation.largest() > limit(error)) {
            return false;
        }
        if (error.byOperator().isPresent()) {
            return error.byOperator().get().isRight()
                    && deviation.spread() <= spreadByOperator(error);
        }
        return switch (error.type()) {
            case FLOAT16, FLOAT32, FLOAT64 ->
                    deviation.spread() <= limit(error.noise().spread(), error.headroom());
            case INT8, UINT8, INT16, UINT16 ->
                    deviation.largest() <= 1
                            || isFew(deviation)
                            || isNoise(deviation, error.noise());
            default -> true;
        };
    }

    private static double spreadByOperator(OutputError error) {
        double least =
                switch (error.type()) {
                    case FLOAT16, FLOAT32, FLOAT64 -> MOST * error.headroom();
                    default -> FEW_ELEMENTS;
                };
        return Math.max(least, NOISES_BY_OPERATOR * error.noise().spread());
    }

    private static boolean isFew(Deviation deviation) {
        return deviation.largest() <= FEW_STEPS
                && deviation.spread() <= FEW_ELEMENTS
                && deviation.otherTops() == 0;
    }

    private static boolean isNoise(Deviation deviation, Deviation noise) {
        return deviation.largest() <= steps(noise.largest())
                && deviation.spread() <= noise.spread()
                && deviation.otherTops() <= noise.otherTops();
    }

    /** Returns whether an output's deviation is explained by its own rounding, in any model. */
    public static boolean isRounding(OutputError error) {
        return switch (error.type()) {
            case FLOAT16, FLOAT32, FLOAT64 ->
                    error.difference() <= LEAST && error.deviation().spread() <= LEAST;
            case INT8, UINT8, INT16, UINT16 -> error.difference() <= 1;
            default -> error.difference() == 0;
        };
    }

    /** Returns whether an output cannot be accepted, whatever its noise is. */
    public boolean refuses(OutputError error) {
        return !admits(error.withNoise(ANY));
    }

    /** Returns {@code auto}, or the limit that the user set, and a permitted lower precision. */
    @Override
    public String toString() {
        String full = hard.isPresent() ? Double.toString(hard.getAsDouble()) : AUTO_TEXT;
        return precision.isLower() ? full + PERMITS + precision : full;
    }
}
