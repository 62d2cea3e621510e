package org.djlplan.delegation;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.List;

/** With how many threads per prediction a model may run. */
public sealed interface ThreadSetting {

    /**
     * Returns the numbers of threads to choose from, in ascending order.
     *
     * @param ofModel the model's own setting, −1 for the engine's default
     * @param cores of this machine
     */
    List<Integer> candidates(int ofModel, int cores);

    /** As many as the model's own setting says; if it says nothing, as many as are found best. */
    record AsModel() implements ThreadSetting {
        @Override
        public List<Integer> candidates(int ofModel, int cores) {
            return ofModel == -1
                    ? new Auto().candidates(ofModel, cores)
                    : ImmutableList.of(ofModel);
        }
    }

    /** As many as are found best: the powers of two up to the number of cores, and that number. */
    record Auto() implements ThreadSetting {
        @Override
        public List<Integer> candidates(int ofModel, int cores) {
            ImmutableSortedSet.Builder<Integer> numbers = ImmutableSortedSet.naturalOrder();
            for (int number = 1; number < cores; number *= 2) {
                numbers.add(number);
            }
            return numbers.add(cores).build().asList();
        }
    }

    /**
     * So many.
     *
     * @param threads a positive number, or −1 for the engine's default
     */
    record Fixed(int threads) implements ThreadSetting {

        public Fixed {
            checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
        }

        @Override
        public List<Integer> candidates(int ofModel, int cores) {
            return ImmutableList.of(threads);
        }
    }
}
