package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.greedy.GreedyBySize;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.Problems;
import org.djlplan.memplan.usage.UsageRecord;

/** Plans of searches to keep, small or random, and their files. */
final class SampleSearchedPlans {

    static final StoreKey KEY = SamplePlans.key("face.tflite", "[1, 128, 128, 3]");

    static final StoredFile<SearchedPlan> FORMAT = new StoredFile<>(new SearchedPlanCodec());

    private SampleSearchedPlans() {}

    /** Tensor 3 lies first; 5 and 9 share the place after it. */
    static SearchedPlan small() {
        PlanningProblem problem =
                new PlanningProblem(
                        List.of(
                                new UsageRecord(3, 0, 2, 1024),
                                new UsageRecord(5, 1, 2, 512),
                                new UsageRecord(9, 2, 4, 512)),
                        List.of(List.of(5, 9)));
        return new SearchedPlan(
                new OffsetPlan("exact-search", problem, Map.of(3, 0L, 5, 1024L)), true, 10_000);
    }

    static void assertSame(SearchedPlan expected, SearchedPlan actual) {
        assertEquals(expected.provedMinimal(), actual.provedMinimal());
        assertEquals(expected.searchedMillis(), actual.searchedMillis());
        assertEquals(expected.plan().strategy(), actual.plan().strategy());
        assertEquals(expected.plan().unitOffsets(), actual.plan().unitOffsets());
        assertEquals(expected.plan().problem().records(), actual.plan().problem().records());
        assertEquals(
                expected.plan().problem().aliasClasses(), actual.plan().problem().aliasClasses());
    }

    /** Returns the file of a plan, to be changed. */
    static JsonObject text(SearchedPlan plan) {
        return StoredText.of(FORMAT, KEY, plan);
    }

    /** Returns the file with a right checksum. */
    static byte[] withChecksum(JsonObject text) {
        return StoredText.withChecksum(text, "searched-plan").getBytes(StandardCharsets.UTF_8);
    }

    /** Sizes are made multiples of the alignment. */
    static Arbitrary<SearchedPlan> any() {
        return Problems.aliased()
                .map(
                        problem ->
                                new PlanningProblem(
                                        problem.records().stream()
                                                .map(SampleSearchedPlans::aligned)
                                                .collect(Collectors.toList()),
                                        problem.aliasClasses()))
                .map(
                        problem ->
                                new SearchedPlan(
                                        new GreedyBySize().plan(problem),
                                        problem.records().size() % 2 == 0,
                                        problem.records().size()));
    }

    private static UsageRecord aligned(UsageRecord record) {
        return new UsageRecord(record.tensor(), record.first(), record.last(), 64 * record.bytes());
    }
}
