package org.djlplan.study.csv;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Usage records with their names in a file.
 *
 * @param records one per tensor; the tensor ids are the file's if all of them are numbers,
 *     otherwise row numbers from 0
 * @param ids the name of every record's tensor
 * @param knownAt the operator that resolves a tensor's size at run time; the sizes of other tensors
 *     are known in advance
 */
public record CsvRecords(
        List<UsageRecord> records, Map<Integer, String> ids, Map<Integer, Integer> knownAt) {

    public CsvRecords {
        knownAt = ImmutableMap.copyOf(knownAt);
        records = ImmutableList.copyOf(records);
        ids = ImmutableMap.copyOf(ids);
        for (UsageRecord record : records) {
            String id = ids.get(record.tensor());
            checkArgument(id != null, "no name for %s", record);
            checkArgument(CsvTable.isField(id), "'%s' is no field of a file", id);
        }
    }

    /** Creates records whose sizes are all known in advance. */
    public CsvRecords(List<UsageRecord> records, Map<Integer, String> ids) {
        this(records, ids, ImmutableMap.of());
    }

    /** Names the tensors of {@code problem} by their ids. */
    public static CsvRecords numbered(PlanningProblem problem) {
        ImmutableMap.Builder<Integer, String> ids = ImmutableMap.builder();
        problem.records().forEach(r -> ids.put(r.tensor(), Integer.toString(r.tensor())));
        return new CsvRecords(problem.records(), ids.buildOrThrow());
    }
}
