package org.djlplan.memplan.source.csv;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.source.csv.CsvTable.Row;
import org.djlplan.memplan.usage.UsageRecord;

/** Numbers the records of a file by row, and resolves what rows say of each other. */
final class RecordCollector {

    private final ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
    private final Map<String, Integer> tensors = new HashMap<>();

    /** Adds the record that {@code row} holds and returns its tensor id. */
    int add(Row row) {
        int tensor = tensors.size();
        String id = row.text("id");
        if (tensors.put(id, tensor) != null) {
            throw row.error("id", "'" + id + "' stands twice");
        }
        int lower = (int) row.number("lower", 0, Integer.MAX_VALUE);
        long upper = row.number("upper", lower + 1L, Integer.MAX_VALUE + 1L);
        long bytes = row.number("size", 1, Long.MAX_VALUE);
        records.add(new UsageRecord(tensor, lower, (int) (upper - 1), bytes));
        return tensor;
    }

    CsvRecords build() {
        ImmutableMap.Builder<Integer, String> ids = ImmutableMap.builder();
        tensors.forEach((id, tensor) -> ids.put(tensor, id));
        return new CsvRecords(records.build(), ids.buildOrThrow());
    }

    /**
     * Returns the classes that the column of aliases links, however the links are chained.
     *
     * @param aliases the rows that name an alias, by tensor id
     */
    List<List<Integer>> aliasClasses(Map<Integer, Row> aliases) {
        Map<Integer, List<Integer>> classOf = new HashMap<>();
        aliases.forEach(
                (tensor, row) -> {
                    String alias = row.text("alias");
                    Integer other = tensors.get(alias);
                    if (other == null || other.equals(tensor)) {
                        throw row.error("alias", "'" + alias + "' is no other record");
                    }
                    link(classOf, tensor, other);
                });
        return classOf.entrySet().stream()
                .filter(entry -> entry.getValue().get(0).equals(entry.getKey()))
                .map(Map.Entry::getValue)
                .toList();
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
