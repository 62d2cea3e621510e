package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * The steps of a memory map: the operators of a graph; of records alone, all up to the last, or
 * only those where a tensor begins or ends if there are far more.
 *
 * @param count how many
 * @param numbers what each is in the records; none if they are the same
 */
record ReportSteps(int count, List<Integer> numbers) {

    /** So many steps for each record are shown as they are. */
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

    /** Returns which of the steps a number in the records is. */
    int index(int number) {
        return numbers.isEmpty() ? number : Collections.binarySearch(numbers, number);
    }

    /** Returns what a step is in the records. */
    int number(int index) {
        return numbers.isEmpty() ? index : numbers.get(index);
    }
}
