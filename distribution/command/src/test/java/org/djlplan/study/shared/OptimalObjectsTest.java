package org.djlplan.study.shared;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class OptimalObjectsTest {

    private static final double MEBIBYTE = 1 << 20;

    private static void assertProved(OptimalObjects.Result result) {
        assertEquals(result.plan().totalBytes(), result.lowerBoundBytes());
    }

    /** Tries every way to give units objects. */
    private static long smallest(
            List<UsageRecord> units, int next, List<List<UsageRecord>> objects) {
        if (next == units.size()) {
            return objects.stream()
                    .mapToLong(
                            each -> each.stream().mapToLong(UsageRecord::bytes).max().getAsLong())
                    .sum();
        }
        UsageRecord unit = units.get(next);
        long least = Long.MAX_VALUE;
        for (List<UsageRecord> object : List.copyOf(objects)) {
            if (object.stream().noneMatch(unit::overlaps)) {
                object.add(unit);
                least = Math.min(least, smallest(units, next + 1, objects));
                object.remove(object.size() - 1);
            }
        }
        List<UsageRecord> opened = new ArrayList<>(List.of(unit));
        objects.add(opened);
        least = Math.min(least, smallest(units, next + 1, objects));
        objects.remove(objects.size() - 1);
        return least;
    }

    @Property(tries = 500)
    void search_fewUnits_equalsExhaustiveSearch(@ForAll("few") PlanningProblem problem) {
        OptimalObjects.Result result = new OptimalObjects().search(problem);
        assertEquals(smallest(problem.units(), 0, new ArrayList<>()), result.plan().totalBytes());
        assertProved(result);
    }

    @Property(tries = 300)
    void search_anyProblem_isValidAndBelowNoOther(@ForAll("problems") PlanningProblem problem) {
        OptimalObjects.Result result = new OptimalObjects().search(problem);
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1));
        for (OffsetStrategy strategy : SharedStrategies.GREEDY) {
            assertTrue(
                    result.plan().totalBytes() <= strategy.plan(problem).totalBytes(),
                    strategy::name);
        }
    }

    @Property(tries = 100)
    void search_withoutNodes_isTheBestOfTheOthersAndHonest(
            @ForAll("problems") PlanningProblem problem) {
        OptimalObjects.Result cut = new OptimalObjects(0).search(problem);
        OptimalObjects.Result full = new OptimalObjects().search(problem);
        assertEquals(
                SharedStrategies.GREEDY.stream()
                        .mapToLong(strategy -> strategy.plan(problem).totalBytes())
                        .min()
                        .getAsLong(),
                cut.plan().totalBytes());
        assertTrue(cut.lowerBoundBytes() <= full.plan().totalBytes());
        assertTrue(cut.lowerBoundBytes() >= LowerBounds.sharedObjectBytes(problem.units()));
    }

    @Test
    void search_mobileNetV2_provesAnOptimumAboveTheBound() {
        List<UsageRecord> records =
                UsageRecords.of(TfLiteGraphs.toGraph(MobileNetV2.build(1), "mobilenet_v2"));
        OptimalObjects.Result result = new OptimalObjects().search(new PlanningProblem(records));
        assertEquals(6.604, LowerBounds.sharedObjectBytes(records) / MEBIBYTE, 5e-4);
        assertEquals(6.699, result.plan().totalBytes() / MEBIBYTE, 5e-4);
        assertProved(result);
    }

    @Test
    void search_publishedVectors_reachTheBound() {
        for (List<UsageRecord> records :
                List.of(Vectors.PISARCHYK, Vectors.TFLITE_CHAIN, Vectors.TFLITE_COMPLEX)) {
            OptimalObjects.Result result =
                    new OptimalObjects().search(new PlanningProblem(records));
            assertEquals(LowerBounds.sharedObjectBytes(records), result.plan().totalBytes());
            assertProved(result);
        }
    }

    @Test
    void search_sameProblemTwice_givesTheSamePlan() {
        PlanningProblem problem = new PlanningProblem(wide(120, 3));
        OptimalObjects search = new OptimalObjects(5_000);
        assertEquals(search.search(problem), search.search(problem));
    }

    @Test
    void search_tooWide_saysThatNothingIsProved() {
        PlanningProblem problem = new PlanningProblem(wide(400, 60));
        OptimalObjects.Result result = new OptimalObjects(2_000).search(problem);
        assertEquals(List.of(), PlanValidator.violations(result.plan(), 1));
        assertTrue(result.lowerBoundBytes() >= LowerBounds.sharedObjectBytes(problem.units()));
        assertTrue(result.lowerBoundBytes() < result.plan().totalBytes());
    }

    private static List<UsageRecord> wide(int count, int length) {
        Random random = new Random(11);
        List<UsageRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int first = random.nextInt(count);
            records.add(
                    new UsageRecord(
                            i, first, first + random.nextInt(length), 1 + random.nextInt(1000)));
        }
        return records;
    }

    @Provide
    Arbitrary<PlanningProblem> few() {
        return Problems.records()
                .map(
                        records ->
                                new PlanningProblem(
                                        records.subList(0, Math.min(7, records.size()))));
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
