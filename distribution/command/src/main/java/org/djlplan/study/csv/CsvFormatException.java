package org.djlplan.study.csv;

/** Signals a CSV file with invalid content; the message names the line and the column. */
public final class CsvFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final int line;
    private final String column;

    CsvFormatException(int line, String column, String problem) {
        super("line " + line + ", column '" + column + "': " + problem);
        this.line = line;
        this.column = column;
    }

    /** Returns the line, from 1 on; the header is line 1. */
    public int line() {
        return line;
    }

    /** Returns the name of the column, or that of the first column if the whole line is wrong. */
    public String column() {
        return column;
    }
}
