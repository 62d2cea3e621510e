package org.djlplan.memplan.internal.plan;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class PlanValidatorTest {

    /** Tensor 0 at operators 0 and 1, tensor 1 at 1 and 2, tensor 2 at 2 and 3; 64 bytes each. */
    private static final List<UsageRecord> CHAIN = records(0, 1, 64, 1, 2, 64, 2, 3, 64);

    private static List<String> check(long... offsets) {
        return check(new PlanningProblem(CHAIN), 128, offsets);
    }

    private static List<String> check(PlanningProblem problem, long arena, long... offsets) {
        Map<Integer, Long> byTensor = new HashMap<>();
        for (int i = 0; i < offsets.length; i++) {
            byTensor.put(i, offsets[i]);
        }
        return PlanValidator.violations(problem, byTensor, arena, 64).stream()
                .map(PlanValidatorTest::described)
                .toList();
    }

    private static String described(Violation violation) {
        List<String> names = violation.tensors().stream().map(tensor -> "t" + tensor).toList();
        return violation.rule() + ": " + violation.describe(names);
    }

    @Test
    void violations_negativeOffset_isNamed() {
        assertEquals(List.of("negative-offset: t0 has the negative offset -64"), check(-64, 0, 64));
    }

    @Test
    void violations_misalignedOffset_isNamed() {
        assertEquals(
                List.of("misaligned-offset: t2 has the offset 65, no multiple of 64"),
                check(new PlanningProblem(CHAIN), 192, 64, 0, 65));
    }

    @Test
    void violations_arenaSmallerThanUsed_isNamed() {
        assertEquals(List.of("outside-arena: t1 ends at 192 in an arena of 128"), check(0, 128, 0));
    }

    @Test
    void violations_endOverflows_isOutsideTheArena() {
        assertEquals(
                List.of("outside-arena: t1 ends at 9223372036854775807 in an arena of 128"),
                check(0, Long.MAX_VALUE - 63, 0));
    }

    @Test
    void violations_missingOffset_isNamed() {
        assertEquals(List.of("no-offset: t2 has no offset"), check(0, 64));
    }

    @Test
    void violations_aliasMemberElsewhere_isNamed() {
        PlanningProblem problem = new PlanningProblem(CHAIN, List.of(List.of(0, 1)));
        assertEquals(
                List.of("alias-apart: t1 is to share the place of t0 but does not"),
                check(problem, 192, 0, 64, 128));
    }

    @Test
    void violations_listedMembersOfClasses_countForTheirPlaces() {
        PlanningProblem problem =
                new PlanningProblem(
                                records(0, 0, 64, 1, 1, 64, 2, 2, 64, 3, 3, 64),
                                List.of(List.of(0, 1), List.of(2, 3)))
                        .withConflicts(new Conflicts.Builder().add(1, 3).add(1, 2).build());
        String conflict =
                "conflict-overlap: t0 and t2 overlap in space and may be alive at once in another"
                        + " order";
        assertEquals(List.of(conflict), check(problem, 64, 0, 0, 0, 0));
        assertEquals(List.of("no-offset: t3 has no offset", conflict), check(problem, 64, 0, 0, 0));
    }

    @Test
    void violations_overlap_isNamed() {
        assertEquals(List.of("overlap: t0 and t1 overlap in time and space"), check(0, 0, 64));
    }

    @Test
    void violations_thirtyThousandAtOnePlace_endsEarly() {
        List<UsageRecord> records = new ArrayList<>();
        Map<Integer, Long> offsets = new HashMap<>();
        for (int i = 0; i < 30_000; i++) {
            records.add(new UsageRecord(i, 0, 9, 64));
            offsets.put(i, 0L);
        }
        PlanningProblem problem = new PlanningProblem(records);
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () ->
                        assertEquals(
                                PlanValidator.MOST_VIOLATIONS,
                                PlanValidator.violations(problem, offsets, 64, 64).size()));
    }

    @Test
    void violations_manyValidAtOnce_endsEarly() {
        List<UsageRecord> records = new ArrayList<>();
        Map<Integer, Long> offsets = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            records.add(new UsageRecord(i, i % 7, 1_000_000, 64));
            offsets.put(i, 64L * i);
        }
        PlanningProblem problem = new PlanningProblem(records);
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () ->
                        assertEquals(
                                List.of(),
                                PlanValidator.violations(problem, offsets, 64L * 200_000, 64)));
    }

    /** Finds overlapping units byte by byte and operator by operator. */
    @Property(tries = 300)
    void violations_anyOffsets_findsExactlyTheUnitsThatMeet(
            @ForAll("problems") PlanningProblem problem,
            @ForAll("offsets") List<Integer> unitOffsets) {
        Map<Integer, Long> offsets = new HashMap<>();
        for (UsageRecord record : problem.records()) {
            int unit = problem.unitOf(record.tensor());
            offsets.put(record.tensor(), (long) unitOffsets.get(unit));
        }
        Set<Set<Integer>> meetings = new HashSet<>();
        for (UsageRecord a : problem.units()) {
            for (UsageRecord b : problem.units()) {
                long high = Math.max(offsets.get(a.tensor()), offsets.get(b.tensor()));
                long low =
                        Math.min(
                                offsets.get(a.tensor()) + a.bytes(),
                                offsets.get(b.tensor()) + b.bytes());
                if (a.tensor() != b.tensor() && problem.conflict(a, b) && high < low) {
                    meetings.add(Set.of(a.tensor(), b.tensor()));
                }
            }
        }
        Set<Set<Integer>> found = new HashSet<>();
        for (Violation violation : PlanValidator.violations(problem, offsets, 1000, 1)) {
            assertTrue(violation.rule().endsWith("overlap"), violation::rule);
            assertTrue(found.add(Set.copyOf(violation.tensors())));
        }
        assertEquals(meetings, found);
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Arbitraries.oneOf(Problems.aliased(), Problems.withConflicts());
    }

    @Provide
    Arbitrary<List<Integer>> offsets() {
        return Arbitraries.integers().between(0, 150).list().ofSize(25);
    }
}
