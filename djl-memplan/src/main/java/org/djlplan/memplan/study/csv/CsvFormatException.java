package org.djlplan.memplan.study.csv;

/** A file is not what its format asks for; the message names the line and the column. */
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

    /** Returns the name of the column; that of the first when the whole line is at fault. */
    public String column() {
        return column;
    }
}
