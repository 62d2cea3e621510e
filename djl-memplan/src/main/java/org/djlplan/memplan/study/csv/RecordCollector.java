package org.djlplan.memplan.study.csv;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Ints;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.study.csv.CsvTable.Row;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Numbers the records of a file, and resolves what rows say of each other. Where all names are
 * numbers they are the tensor ids, so that strategies break ties as the file's author expects; else
 * tensors are numbered by row from 0 on.
 */
final class RecordCollector {

    private final List<UsageRecord> byRow = new ArrayList<>();
    private final Map<String, Integer> rows = new LinkedHashMap<>();
    private boolean numbered = true;

    /** Adds the record that {@code row} holds. */
    void add(Row row) {
        String id = row.text("id");
        if (rows.put(id, rows.size()) != null) {
            throw row.error("id", "'" + id + "' stands twice");
        }
        numbered &= isNumber(id);
        int lower = (int) row.number("lower", 0, Integer.MAX_VALUE);
        long upper = row.number("upper", lower + 1L, Integer.MAX_VALUE + 1L);
        long bytes = row.number("size", 1, Long.MAX_VALUE);
        byRow.add(new UsageRecord(byRow.size(), lower, (int) (upper - 1), bytes));
    }

    /** Returns the records; to be called when all are added. */
    CsvRecords build() {
        ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
        ImmutableMap.Builder<Integer, String> ids = ImmutableMap.builder();
        rows.forEach(
                (id, row) -> {
                    UsageRecord r = byRow.get(row);
                    records.add(new UsageRecord(tensor(id), r.first(), r.last(), r.bytes()));
                    ids.put(tensor(id), id);
                });
        return new CsvRecords(records.build(), ids.buildOrThrow());
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
     * @param linked the rows that name an alias
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

    /** Whether {@code id} is a number in its only spelling: 7 is one, 07 might be another name. */
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
