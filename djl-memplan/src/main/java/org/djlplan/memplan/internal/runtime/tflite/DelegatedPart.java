package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The operators of a streamed model that a delegate runs. The delegate keeps their weights, packed,
 * in memory.
 *
 * @param delegates the factory that makes the delegate
 * @param operators the operators' indices in the file
 * @param original the model of which the file is a copy, with the same tensor ids; the delegate
 *     reads constants from this original. Empty if the copy has all constants.
 */
public record DelegatedPart(
        DelegateFactory delegates, SortedSet<Integer> operators, Optional<OpenModel> original) {

    public DelegatedPart {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(!operators.isEmpty(), "nothing is delegated");
    }
}
