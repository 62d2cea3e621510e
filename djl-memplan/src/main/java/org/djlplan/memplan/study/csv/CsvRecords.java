package org.djlplan.memplan.study.csv;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/**
 * Usage records with the names that a file gives them.
 *
 * @param records one per tensor; read from a file, tensors carry its ids where all are numbers, and
 *     are numbered by row from 0 on where not
 * @param ids the name of every record's tensor
 * @param knownAt by tensor, the operator that resolves its size as it runs; those missing are known
 *     before the model runs
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

    /** Records whose sizes are all known before the model runs. */
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
