package org.djlplan.memplan.rows;

/** Signals that a row could not be predicted; the cause is the predictor's exception. */
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
        super(which + ": " + cause, cause);
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
