package org.djlplan.cli;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The steps of a memory map. For a graph they are its operators. For usage records without a graph
 * they are all steps up to the last or, if these are too many, only the steps at which a tensor's
 * live range begins or ends.
 *
 * @param count number of steps
 * @param numbers number of each step in the records; empty if each step's number is its index
 */
record ReportSteps(int count, List<Integer> numbers) {

    /** Up to this many steps per record, all steps are shown. */
    private static final int MOST_PER_RECORD = 4;

    private static final int FEW = 1000;

    ReportSteps {
        numbers = ImmutableList.copyOf(numbers);
    }

    /** Returns the steps of a graph's operators. */
    static ReportSteps of(int operators) {
        return new ReportSteps(operators, List.of());
    }

    /** Returns the steps of records. */
    static ReportSteps of(List<UsageRecord> records) {
        long steps = 1L + records.stream().mapToInt(UsageRecord::last).max().orElse(-1);
        if (steps <= FEW + (long) MOST_PER_RECORD * records.size()) {
            return of((int) steps);
        }
        int[] used =
                records.stream()
                        .flatMapToInt(record -> IntStream.of(record.first(), record.last()))
                        .sorted()
                        .distinct()
                        .toArray();
        return new ReportSteps(used.length, Ints.asList(used));
    }

    /** Returns the index of the step with a number of the records. */
    int index(int number) {
        return numbers.isEmpty() ? number : Collections.binarySearch(numbers, number);
    }

    /** Returns the number that the step at an index has in the records. */
    int number(int index) {
        return numbers.isEmpty() ? index : numbers.get(index);
    }
}
