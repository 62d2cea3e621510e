package org.djlplan.study.shared;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class SharedObjectsValidatorTest {

    /** Tensor 0 at operators 0 and 1, tensor 1 at 1 and 2, tensor 2 at 2 and 3; 64 bytes each. */
    private static final List<UsageRecord> CHAIN = records(0, 1, 64, 1, 2, 64, 2, 3, 64);

    private static List<Violation> check(
            PlanningProblem problem, List<Long> sizes, int... objects) {
        Map<Integer, Integer> byTensor = new HashMap<>();
        for (int i = 0; i < objects.length; i++) {
            byTensor.put(i, objects[i]);
        }
        return SharedObjectsValidator.violations(problem, byTensor, sizes);
    }

    private static List<Violation> check(List<Long> sizes, int... objects) {
        return check(new PlanningProblem(CHAIN), sizes, objects);
    }

    @Test
    void violations_objectReusedOnceFree_none() {
        assertEquals(List.of(), check(List.of(64L, 64L), 0, 1, 0));
    }

    @Test
    void violations_bothAliveAtOneOperator_namesBothTensors() {
        assertEquals(
                List.of(SharedObjectsValidator.objectInUse(0, 1)),
                check(List.of(64L, 64L), 0, 0, 1));
        assertEquals(
                List.of(SharedObjectsValidator.objectInUse(1, 2)),
                check(List.of(64L, 64L), 0, 1, 1));
    }

    @Test
    void violations_longHolderBeforeAShortOne_isNotForgotten() {
        PlanningProblem problem = new PlanningProblem(records(0, 9, 1, 1, 2, 1, 4, 5, 1));
        assertEquals(
                List.of(
                        SharedObjectsValidator.objectInUse(0, 1),
                        SharedObjectsValidator.objectInUse(0, 2)),
                check(problem, List.of(1L), 0, 0, 0));
    }

    @Test
    void violations_objectTooSmall_isNamed() {
        assertEquals(
                List.of(SharedObjectsValidator.objectTooSmall(1, 64, 63)),
                check(List.of(64L, 63L), 0, 1, 0));
    }

    @Test
    void violations_noSuchObject_isNamed() {
        assertEquals(
                List.of(
                        SharedObjectsValidator.unknownObject(1, 2, 2),
                        SharedObjectsValidator.unknownObject(2, -1, 2)),
                check(List.of(64L, 64L), 0, 2, -1));
    }

    @Test
    void violations_tensorWithoutObject_isNamed() {
        assertEquals(List.of(SharedObjectsValidator.noObject(2)), check(List.of(64L, 64L), 0, 1));
    }

    @Test
    void violations_aliasElsewhere_isNamed() {
        PlanningProblem problem = new PlanningProblem(CHAIN, List.of(List.of(0, 1)));
        assertEquals(List.of(), check(problem, List.of(64L, 64L), 0, 0, 1));
        assertEquals(
                List.of(Violation.aliasApart(1, 0), SharedObjectsValidator.objectInUse(0, 2)),
                check(problem, List.of(64L, 64L), 0, 1, 0));
    }

    @Test
    void violations_classHoldsItsObjectBetweenUses_isAnOverlap() {
        // Tensors 0 and 2 are an alias class, so their object is also in use at operator 1.
        PlanningProblem problem =
                new PlanningProblem(records(0, 0, 8, 1, 1, 8, 2, 2, 8), List.of(List.of(0, 2)));
        assertEquals(
                List.of(SharedObjectsValidator.objectInUse(0, 1)),
                check(problem, List.of(8L), 0, 0, 0));
    }

    @Test
    void describe_everyRule_isASentence() {
        List<String> one = List.of("a");
        assertEquals("a has no object", SharedObjectsValidator.noObject(0).describe(one));
        assertEquals(
                "a has object number 3 of 2",
                SharedObjectsValidator.unknownObject(0, 3, 2).describe(one));
        assertEquals(
                "a has 64 bytes in an object of 8",
                SharedObjectsValidator.objectTooSmall(0, 64, 8).describe(one));
        assertEquals(
                "a and b are alive at once in one object",
                SharedObjectsValidator.objectInUse(0, 1).describe(List.of("a", "b")));
        assertEquals("object-in-use", SharedObjectsValidator.objectInUse(0, 1).rule());
        assertEquals(List.of(0, 1), SharedObjectsValidator.objectInUse(0, 1).tensors());
    }

    @Test
    void plan_numbersWithGaps_isAnError() {
        PlanningProblem problem = new PlanningProblem(CHAIN);
        assertThrows(
                IllegalArgumentException.class,
                () -> new SharedObjectsPlan("x", problem, Map.of(0, 0, 1, 2, 2, 0)));
        assertThrows(
                IllegalArgumentException.class,
                () -> new SharedObjectsPlan("x", problem, Map.of(0, 0, 1, 1)));
    }

    @Property(tries = 500)
    void violations_anyObjects_noneExactlyWhenNoPairClashes(
            @ForAll("few") List<UsageRecord> records, @ForAll("objects") List<Integer> objects) {
        PlanningProblem problem = new PlanningProblem(records);
        boolean clash = false;
        List<Long> sizes = new ArrayList<>(List.of(20L, 20L, 20L, 20L, 20L));
        for (UsageRecord a : records) {
            for (UsageRecord b : records) {
                clash |=
                        a.tensor() < b.tensor()
                                && a.overlaps(b)
                                && objects.get(a.tensor()).equals(objects.get(b.tensor()));
            }
        }
        int[] numbers =
                objects.subList(0, records.size()).stream().mapToInt(Integer::intValue).toArray();
        assertEquals(clash, !check(problem, sizes, numbers).isEmpty());
    }

    @Provide
    Arbitrary<List<UsageRecord>> few() {
        return Problems.records().map(records -> records.subList(0, Math.min(6, records.size())));
    }

    @Provide
    Arbitrary<List<Integer>> objects() {
        return Arbitraries.integers().between(0, 4).list().ofSize(6);
    }
}
