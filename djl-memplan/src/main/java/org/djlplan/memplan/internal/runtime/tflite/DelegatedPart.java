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
 * @param delegates makes the delegate
 * @param operators their indices in the file
 * @param original the model that the file was copied from, with the same tensor ids, from which the
 *     delegate reads constants; empty if the copy has them all
 */
public record DelegatedPart(
        DelegateFactory delegates, SortedSet<Integer> operators, Optional<OpenModel> original) {

    public DelegatedPart {
        operators = ImmutableSortedSet.copyOf(operators);
        checkArgument(!operators.isEmpty(), "nothing is delegated");
    }
}
