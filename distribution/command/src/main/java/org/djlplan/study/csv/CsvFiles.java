package org.djlplan.study.csv;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.csv.CsvTable.Row;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Reads usage records and plans. Files are UTF-8. */
public final class CsvFiles {

    private static final ImmutableList<String> RECORD_COLUMNS =
            ImmutableList.of("id", "lower", "upper", "size");
    private static final String OFFSET = "offset";
    private static final String ALIAS = "alias";
    private static final String KNOWN = "known";

    private CsvFiles() {}

    /**
     * Reads usage records. A column {@code known} names the operator at which a size becomes known;
     * further columns are ignored.
     *
     * @throws IllegalArgumentException if the file does not have the format; the message names the
     *     line and the column
     * @throws IOException if it cannot be read
     */
    public static CsvRecords readRecords(Path file) throws IOException {
        RecordCollector records = new RecordCollector();
        read(file, RECORD_COLUMNS, records::add);
        return records.build();
    }

    /**
     * Reads a plan. Without a column {@code alias} no tensors share a place.
     *
     * @throws IllegalArgumentException if the file does not have the format; the message names the
     *     line and the column
     * @throws IOException if it cannot be read
     */
    public static CsvPlan readPlan(Path file) throws IOException {
        List<String> columns =
                ImmutableList.<String>builder().addAll(RECORD_COLUMNS).add(OFFSET).build();
        RecordCollector records = new RecordCollector();
        List<Long> offsets = new ArrayList<>();
        List<Row> linked = new ArrayList<>();
        read(
                file,
                columns,
                row -> {
                    records.add(row);
                    offsets.add(row.number(OFFSET, Long.MIN_VALUE, Long.MAX_VALUE));
                    row.optionalText(ALIAS).ifPresent(alias -> linked.add(row));
                });
        CsvRecords read = records.build();
        PlanningProblem problem = new PlanningProblem(read.records(), records.aliasClasses(linked));
        return new CsvPlan(problem, records.byTensor(offsets), read.ids());
    }

    private static void read(Path file, List<String> columns, Consumer<Row> rows)
            throws IOException {
        try (Reader reader = Files.newBufferedReader(file)) {
            new CsvTable(reader, columns).forEach(rows);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "this is not a text file with the columns " + String.join(",", columns), e);
        }
    }

    /**
     * Numbers the records of a file, and resolves references between rows. If all names are
     * numbers, they are the tensor ids, so that strategies break ties as the file's author expects;
     * otherwise tensors are numbered by row from 0.
     */
    private static final class RecordCollector {

        private final List<UsageRecord> byRow = new ArrayList<>();
        private final Map<String, Integer> rows = new LinkedHashMap<>();

        /** The operator that resolves the size, by row. */
        private final Map<Integer, Integer> knownAt = new HashMap<>();

        private boolean numbered = true;

        /** Adds the record in {@code row}. */
        void add(Row row) {
            String id = row.text("id");
            if (rows.put(id, rows.size()) != null) {
                throw row.error("id", "'" + id + "' stands twice");
            }
            numbered &= isNumber(id);
            int lower = (int) row.number("lower", 0, Integer.MAX_VALUE);
            long upper = row.number("upper", lower + 1L, Integer.MAX_VALUE + 1L);
            long bytes = row.number("size", 1, Long.MAX_VALUE);
            if (row.optionalText(KNOWN).isPresent()) {
                knownAt.put(byRow.size(), (int) row.number(KNOWN, 0, lower));
            }
            byRow.add(new UsageRecord(byRow.size(), lower, (int) (upper - 1), bytes));
        }

        /** Returns the records; must be called after all were added. */
        CsvRecords build() {
            ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
            ImmutableMap.Builder<Integer, String> ids = ImmutableMap.builder();
            ImmutableMap.Builder<Integer, Integer> knownAtByTensor = ImmutableMap.builder();
            rows.forEach(
                    (id, row) -> {
                        UsageRecord r = byRow.get(row);
                        records.add(new UsageRecord(tensor(id), r.first(), r.last(), r.bytes()));
                        ids.put(tensor(id), id);
                        if (knownAt.containsKey(row)) {
                            knownAtByTensor.put(tensor(id), knownAt.get(row));
                        }
                    });
            return new CsvRecords(
                    records.build(), ids.buildOrThrow(), knownAtByTensor.buildOrThrow());
        }

        /** Returns {@code values}, one per row in order of rows, by tensor id. */
        <T> ImmutableMap<Integer, T> byTensor(List<T> values) {
            ImmutableMap.Builder<Integer, T> result = ImmutableMap.builder();
            rows.forEach((id, row) -> result.put(tensor(id), values.get(row)));
            return result.buildOrThrow();
        }

        /**
         * Returns the classes that the column of aliases links, however the links are chained.
         *
         * @param linked the rows with an alias
         */
        List<List<Integer>> aliasClasses(List<Row> linked) {
            Map<Integer, List<Integer>> classOf = new HashMap<>();
            for (Row row : linked) {
                String id = row.text("id");
                String alias = row.text("alias");
                if (!rows.containsKey(alias) || alias.equals(id)) {
                    throw row.error("alias", "'" + alias + "' is no other record");
                }
                link(classOf, tensor(id), tensor(alias));
            }
            return classOf.entrySet().stream()
                    .filter(entry -> entry.getValue().get(0).equals(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .toList();
        }

        private int tensor(String id) {
            return numbered ? Integer.parseInt(id) : rows.get(id);
        }

        /** Returns whether {@code id} is a number in canonical form: 7 is one, 07 is a name. */
        private static boolean isNumber(String id) {
            Integer number = Ints.tryParse(id);
            return number != null && number >= 0 && id.equals(Integer.toString(number));
        }

        private static void link(Map<Integer, List<Integer>> classOf, int tensor, int other) {
            List<Integer> a = classOf.computeIfAbsent(tensor, id -> new ArrayList<>(List.of(id)));
            List<Integer> b = classOf.computeIfAbsent(other, id -> new ArrayList<>(List.of(id)));
            if (a != b) {
                List<Integer> larger = a.size() < b.size() ? b : a;
                List<Integer> smaller = larger == a ? b : a;
                larger.addAll(smaller);
                smaller.forEach(member -> classOf.put(member, larger));
            }
        }
    }
}
