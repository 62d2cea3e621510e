package org.djlplan.memplan.rows;

import ai.djl.translate.TranslateException;

/**
 * Signals that a row could not be predicted. Iterators cannot throw the {@link TranslateException}
 * of DJL's predictors, so the {@code TranslateException} is the cause of this exception, like the
 * {@code IOException} in an {@link java.io.UncheckedIOException}. The cause of the {@code
 * TranslateException} is the same as without djl-plan: the exception of the translator or the
 * engine, such as an {@code InputTooLargeException}.
 */
public final class RowFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final long firstRow;
    private final int rows;

    RowFailedException(long firstRow, int rows, Throwable cause) {
        this(
                rows == 1
                        ? "row " + firstRow
                        : "one of rows " + firstRow + " to " + (firstRow + rows - 1),
                firstRow,
                rows,
                cause);
    }

    private RowFailedException(String which, long firstRow, int rows, Throwable cause) {
        super(
                which + ": " + cause,
                cause instanceof TranslateException ? cause : new TranslateException(cause));
        this.firstRow = firstRow;
        this.rows = rows;
    }

    /** Creates an exception for a batch whose rows are not consecutive. */
    static RowFailedException ofGroup(long row, int rows, Throwable cause) {
        return rows == 1
                ? new RowFailedException(row, rows, cause)
                : new RowFailedException(
                        "row " + row + " or another one of its batch of " + rows, row, rows, cause);
    }

    /** Returns the exception of DJL, never null. */
    @Override
    public synchronized TranslateException getCause() {
        return (TranslateException) super.getCause();
    }

    /**
     * Returns the number of the first row of the batch, in the order of the iterator; the
     * iterator's first row is 0.
     */
    public long firstRow() {
        return firstRow;
    }

    /** Returns the number of rows in the batch. */
    public int rows() {
        return rows;
    }
}
