package org.djlplan.memplan.rows;

/** A row could not be predicted; the cause is what the predictor threw. */
public final class RowFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final long firstRow;
    private final int rows;

    RowFailedException(long firstRow, int rows, Throwable cause) {
        super(
                rows == 1
                        ? "row " + firstRow + ": " + cause
                        : "one of rows " + firstRow + " to " + (firstRow + rows - 1) + ": " + cause,
                cause);
        this.firstRow = firstRow;
        this.rows = rows;
    }

    /** Returns the number of the first row of the batch; the iterator's first row is 0. */
    public long firstRow() {
        return firstRow;
    }

    /** Returns how many rows the batch has. */
    public int rows() {
        return rows;
    }
}
