package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The operators of a streamed model that a delegate runs; the delegate keeps their packed weights.
 *
 * @param delegates make the delegate
 * @param operators their indices in the file
 * @param original the model of which the file is a copy, with tensors of the same ids: the delegate
 *     reads the constants there; empty where the copy has them all
 */
public record DelegatedPart(
        DelegateFactory delegates, SortedSet<Integer> operators, Optional<OpenModel> original) {

    public DelegatedPart {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(!operators.isEmpty(), "nothing is delegated");
    }
}
