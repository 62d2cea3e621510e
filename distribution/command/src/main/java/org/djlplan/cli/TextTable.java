package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.base.Strings;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A table for people, as aligned text: the first column is left-aligned, and so is the last if it
 * is text. Columns without any text are left out of the output.
 */
public final class TextTable {

    private final List<List<String>> rows = new ArrayList<>();
    private final int columns;
    private final boolean textLast;

    /**
     * @param textLast whether the last column is text, not numbers
     * @param heading of each column
     */
    public TextTable(boolean textLast, String... heading) {
        this(textLast, heading.length);
        row(heading);
    }

    private TextTable(boolean textLast, int columns) {
        this.textLast = textLast;
        this.columns = columns;
    }

    /** Returns a table of numbers, whose first row is the heading if there is one. */
    static TextTable of(List<? extends List<String>> rows) {
        TextTable table = new TextTable(false, rows.stream().mapToInt(List::size).max().orElse(0));
        table.rows.addAll(rows);
        return table;
    }

    /** Adds a row; missing cells at its end are empty. */
    public void row(String... cells) {
        checkArgument(cells.length <= columns, "%s cells", cells.length);
        rows.add(List.of(cells));
    }

    /** Returns all rows, the heading first. */
    public List<List<String>> rows() {
        return ImmutableList.copyOf(rows);
    }

    /** Removes control characters, so that text in a file cannot control a terminal. */
    public static String plain(String text) {
        return CharMatcher.javaIsoControl().replaceFrom(text, ' ');
    }

    /** Returns the lines, each with its line break, without other control characters. */
    public String text() {
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                if (widths[i] == 0) {
                    continue;
                }
                boolean left = i == 0 || (textLast && i == columns - 1);
                String cell = plain(row.get(i));
                line.append(i == 0 ? "" : "  ")
                        .append(
                                left
                                        ? Strings.padEnd(cell, widths[i], ' ')
                                        : Strings.padStart(cell, widths[i], ' '));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
