package org.djlplan.study.csv;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A reader for a header line and rows of plain fields; it takes little memory, because it rejects
 * long lines while it reads them.
 */
final class CsvTable {

    /** Far longer than any valid line; a file without line breaks must not fill the memory. */
    static final int LONGEST_LINE = 4096;

    /** Enough for a trace of a million allocations. */
    static final int MOST_ROWS = 1_000_000;

    /** One line of the file. */
    record Row(int line, Map<String, Integer> columns, List<String> fields) {

        /** Returns a field that must not be empty. */
        String text(String column) {
            String text = optionalText(column).orElse("");
            if (text.isEmpty()) {
                throw error(column, "is empty");
            }
            return text;
        }

        /** Returns a field; empty if the field is empty, or the file has no such column. */
        Optional<String> optionalText(String column) {
            return Optional.ofNullable(columns.get(column))
                    .map(fields::get)
                    .filter(text -> !text.isEmpty());
        }

        /** Returns an integer between {@code least} and {@code most}, both inclusive. */
        long number(String column, long least, long most) {
            String text = text(column);
            long number;
            try {
                number = Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw error(column, "'" + text + "' is no whole number");
            }
            if (number < least || number > most) {
                throw error(column, number + " is not between " + least + " and " + most);
            }
            return number;
        }

        IllegalArgumentException error(String column, String problem) {
            return CsvTable.error(line, column, problem);
        }
    }

    private static final Splitter COMMAS = Splitter.on(',').trimResults(CharMatcher.whitespace());

    private final BufferedReader reader;
    private final ImmutableMap<String, Integer> columns;
    private int line;

    /**
     * Reads the header.
     *
     * @param required columns that must exist; others are ignored
     */
    CsvTable(Reader source, List<String> required) throws IOException {
        reader = new BufferedReader(source);
        List<String> header = COMMAS.splitToList(readLine(required.get(0)).orElse(""));
        Map<String, Integer> found = new LinkedHashMap<>();
        for (int i = 0; i < header.size(); i++) {
            if (found.put(header.get(i), i) != null) {
                throw error(line, header.get(i), "stands twice in the header");
            }
        }
        for (String column : required) {
            if (!found.containsKey(column)) {
                throw error(1, column, "is missing from the header");
            }
        }
        columns = ImmutableMap.copyOf(found);
    }

    private static IllegalArgumentException error(int line, String column, String problem) {
        return new IllegalArgumentException(
                "line %d, column '%s': %s".formatted(line, column, problem));
    }

    /** Passes every row that is not blank to {@code consumer}, one at a time. */
    void forEach(Consumer<Row> consumer) throws IOException {
        String firstColumn = columns.keySet().asList().get(0);
        int count = 0;
        for (Optional<String> text = readLine(firstColumn);
                text.isPresent();
                text = readLine(firstColumn)) {
            if (text.get().isEmpty()) {
                continue;
            }
            List<String> fields = COMMAS.splitToList(text.get());
            if (fields.size() != columns.size()) {
                throw error(
                        line,
                        firstColumn,
                        fields.size() + " fields under a header of " + columns.size());
            }
            if (++count > MOST_ROWS) {
                throw error(line, firstColumn, "more than " + MOST_ROWS + " rows");
            }
            consumer.accept(new Row(line, columns, fields));
        }
    }

    private Optional<String> readLine(String column) throws IOException {
        StringBuilder text = new StringBuilder();
        line++;
        int c = reader.read();
        if (c < 0) {
            return Optional.empty();
        }
        for (; c >= 0 && c != '\n'; c = reader.read()) {
            if (text.length() == LONGEST_LINE) {
                throw error(line, column, "line of more than " + LONGEST_LINE + " characters");
            }
            text.append((char) c);
        }
        return Optional.of(text.toString().strip());
    }
}
