package org.djlplan.study.csv;

import java.util.List;
import java.util.Map;
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
        records = ImmutableList.copyOf(records);
        ids = ImmutableMap.copyOf(ids);
        knownAt = ImmutableMap.copyOf(knownAt);
    }
}
