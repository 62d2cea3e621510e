package org.djlplan.memplan.rows;

import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.djl.TokenGroups;

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
     * Returns the batches.
     *
     * @throws RowFailedException if a single row exceeds the limit and is refused
     */
    List<List<PreparedRow>> split(List<PreparedRow> window) {
        List<List<PreparedRow>> batches =
                TokenGroups.split(window, PreparedRow::length, grouping.most());
        batches.forEach(batch -> check(batch.get(0)));
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
