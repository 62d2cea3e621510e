package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.OptionalInt;

/**
 * The limits of predictions.
 *
 * @param maxPredictions at once; empty for no limit
 * @param mostBytes of inputs, and of the memory that a prediction is known to need; {@link
 *     Long#MAX_VALUE} for no limit
 * @param longestDimension of any input; {@link Long#MAX_VALUE} for no limit
 * @param batchTokens limit of the tokens that run at once of one call's inputs; empty for all
 */
public record RequestOptions(
        OptionalInt maxPredictions,
        long mostBytes,
        long longestDimension,
        OptionalInt batchTokens) {

    /** No limits. */
    public static final RequestOptions UNLIMITED =
            new RequestOptions(
                    OptionalInt.empty(), Long.MAX_VALUE, Long.MAX_VALUE, OptionalInt.empty());

    public RequestOptions {
        checkArgument(mostBytes > 0, "at most %s bytes", mostBytes);
        checkArgument(longestDimension > 0, "dimensions of at most %s", longestDimension);
    }
}
