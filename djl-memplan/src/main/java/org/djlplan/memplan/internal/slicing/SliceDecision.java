package org.djlplan.memplan.internal.slicing;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The slices of an operator: its output and weights along channels, and its output along rows.
 *
 * @param operator index in the main graph
 * @param channels sizes of the slices along output channels; one element for no slicing
 * @param rows sizes of the slices along output rows; one element for no slicing
 */
public record SliceDecision(int operator, List<Integer> channels, List<Integer> rows) {

    public SliceDecision {
        channels = ImmutableList.copyOf(channels);
        rows = ImmutableList.copyOf(rows);
        checkArgument(operator >= 0, "negative index: %s", operator);
        checkArgument(!channels.isEmpty() && !rows.isEmpty(), "no slices of %s", operator);
        checkArgument(
                channels.stream().allMatch(size -> size > 0)
                        && rows.stream().allMatch(size -> size > 0),
                "empty slices of %s",
                operator);
    }

    /** Returns the number of operators that replace the sliced one. */
    public int count() {
        return channels.size() * rows.size();
    }
}
