package org.djlplan.study.parallel;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * Buffers and conflicts from Apache TVM's tests ({@code
 * tests/python/unittest/test_tir_usmp_algo.py}). TVM has no intervals, so each record has an
 * operator of its own, and all conflicts are listed. Tensors are numbered by descending name,
 * because TVM breaks ties in that order.
 */
final class TvmVectors {

    /** test_fanout, a block of a residual network, one pool. */
    static final PlanningProblem FANOUT =
            problem(
                    Map.ofEntries(
                            Map.entry("sid_2", 720_000),
                            Map.entry("sid_6", 5_760_000),
                            Map.entry("sid_7", 720_000),
                            Map.entry("sid_8", 720_000),
                            Map.entry("PaddedInput", 720_000),
                            Map.entry("PaddedInput_1", 758_912),
                            Map.entry("PaddedInput_2", 720_000),
                            Map.entry("PaddedInput_3", 720_000),
                            Map.entry("Conv2dOutput", 256),
                            Map.entry("Conv2dOutput_1", 256),
                            Map.entry("Conv2dOutput_2", 256),
                            Map.entry("Conv2dOutput_3", 256)),
                    "sid_7 PaddedInput_1 sid_2 Conv2dOutput_1 PaddedInput_2",
                    "Conv2dOutput_3 PaddedInput_3 sid_6",
                    "sid_6 Conv2dOutput_2 PaddedInput_2 sid_2 PaddedInput_3 Conv2dOutput_3",
                    "Conv2dOutput sid_8 sid_2 PaddedInput",
                    "PaddedInput_3 sid_6 sid_2 Conv2dOutput_3",
                    "Conv2dOutput_2 PaddedInput_2 sid_2 sid_6",
                    "PaddedInput_1 sid_8 sid_2 sid_7 Conv2dOutput_1",
                    "Conv2dOutput_1 sid_7 PaddedInput_1 sid_2",
                    "PaddedInput sid_2 sid_8 Conv2dOutput",
                    "sid_8 PaddedInput sid_2 Conv2dOutput PaddedInput_1",
                    "PaddedInput_2 sid_7 sid_2 Conv2dOutput_2 sid_6");

    /** test_linear without tensor_2 and Conv2dOutput_7, which are in another pool. */
    static final PlanningProblem LINEAR_SLOW_POOL =
            problem(
                    Map.of("sid_9", 301_056, "sid_8", 802_816, "PaddedInput_7", 314_656),
                    "PaddedInput_7 sid_9 sid_8");

    /** test_linear, all buffers. */
    static final PlanningProblem LINEAR =
            problem(
                    Map.of(
                            "sid_9", 301_056,
                            "sid_8", 802_816,
                            "PaddedInput_7", 314_656,
                            "Conv2dOutput_7", 256,
                            "tensor_2", 200_704),
                    "PaddedInput_7 sid_9 sid_8 Conv2dOutput_7",
                    "tensor_2 sid_8",
                    "Conv2dOutput_7 sid_8 PaddedInput_7");

    private TvmVectors() {}

    /**
     * @param pairs for each buffer, the buffers that it is in conflict with
     */
    private static PlanningProblem problem(Map<String, Integer> sizes, String... pairs) {
        Map<String, Integer> ids = new LinkedHashMap<>();
        List<UsageRecord> records = new ArrayList<>();
        sizes.keySet().stream()
                .sorted(Comparator.reverseOrder())
                .forEach(
                        name -> {
                            int id = ids.size();
                            ids.put(name, id);
                            records.add(new UsageRecord(id, id, id, sizes.get(name)));
                        });
        Conflicts.Builder conflicts = new Conflicts.Builder();
        for (String pair : pairs) {
            List<String> names = List.of(pair.split(" "));
            names.subList(1, names.size())
                    .forEach(other -> conflicts.add(ids.get(names.get(0)), ids.get(other)));
        }
        return new PlanningProblem(records).withConflicts(conflicts.build());
    }
}
