package org.djlplan.memplan.rows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.errors.InputTooLargeException;

/** Splits the rows of a window into batches of similar lengths within a limit of tokens. */
final class RowGroups {

    private final RowGrouping grouping;

    RowGroups(RowGrouping grouping) {
        this.grouping = grouping;
    }

    /** Returns the number of rows that are grouped at a time. */
    int window() {
        return grouping.window();
    }

    /**
     * Returns the batches. The batch with the longest rows comes first, so that a lack of memory
     * shows at once.
     *
     * @throws RowFailedException if a single row exceeds the limit and is refused
     */
    List<List<PreparedRow>> split(List<PreparedRow> window) {
        List<PreparedRow> byLength = new ArrayList<>(window);
        byLength.sort(Comparator.comparingLong(PreparedRow::length).reversed());
        List<List<PreparedRow>> batches = new ArrayList<>();
        int begin = 0;
        while (begin < byLength.size()) {
            PreparedRow longest = byLength.get(begin);
            check(longest);
            long fitting = Math.max(1, grouping.most() / Math.max(1, longest.length()));
            int end = (int) Math.min(byLength.size(), begin + fitting);
            batches.add(List.copyOf(byLength.subList(begin, end)));
            begin = end;
        }
        return batches;
    }

    private void check(PreparedRow row) {
        long tokens = tokens(List.of(row));
        if (grouping.isRefusing() && tokens > grouping.most()) {
            throw new RowFailedException(
                    row.number(),
                    1,
                    new InputTooLargeException(
                            String.format(
                                    Locale.ROOT,
                                    "it takes %d tokens, and a batch may have %d",
                                    tokens,
                                    grouping.most())));
        }
    }

    /** Returns the tokens of a batch, including padding. */
    static long tokens(List<PreparedRow> rows) {
        return rows.size() * rows.stream().mapToLong(PreparedRow::length).max().orElse(0);
    }
}
