package org.djlplan.memplan.slicing;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * How an operator is to be sliced: its output along channels, its weights with it, and along rows.
 *
 * @param operator index in the main graph
 * @param channels sizes of the slices along output channels; one for none
 * @param rows sizes of the slices along output rows; one for none
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

    /** Returns the number of operators that take the place of the one. */
    public int count() {
        return channels.size() * rows.size();
    }
}
