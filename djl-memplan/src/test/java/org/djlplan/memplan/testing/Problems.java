package org.djlplan.memplan.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** Random planning problems. */
public final class Problems {

    private Problems() {}

    /**
     * Returns as many records as operators, always the same; most of them live for a short time.
     */
    public static List<UsageRecord> many(int count) {
        Random random = new Random(7);
        List<UsageRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int first = random.nextInt(count);
            int length = i % 50 == 0 ? random.nextInt(10_000) : random.nextInt(40);
            records.add(new UsageRecord(i, first, first + length, 64L * (1 + random.nextInt(900))));
        }
        return records;
    }

    /** Returns up to 25 records over operators 0 to 18, sizes from 1 to 19. */
    public static Arbitrary<List<UsageRecord>> records() {
        return Arbitraries.integers()
                .between(0, 18)
                .list()
                .ofSize(3)
                .list()
                .ofMaxSize(25)
                .map(
                        triples -> {
                            List<UsageRecord> records = new ArrayList<>();
                            for (List<Integer> t : triples) {
                                records.add(
                                        new UsageRecord(
                                                records.size(),
                                                Math.min(t.get(0), t.get(1)),
                                                Math.max(t.get(0), t.get(1)),
                                                1 + t.get(2)));
                            }
                            return records;
                        });
    }

    /** Returns problems in which about half of the tensors are in one of four alias classes. */
    public static Arbitrary<PlanningProblem> aliased() {
        return Combinators.combine(
                        records(), Arbitraries.integers().between(0, 7).list().ofSize(25))
                .as(
                        (records, classes) -> {
                            List<List<Integer>> members = new ArrayList<>();
                            for (int i = 0; i < 4; i++) {
                                members.add(new ArrayList<>());
                            }
                            for (UsageRecord record : records) {
                                int chosen = classes.get(record.tensor());
                                if (chosen < members.size()) {
                                    members.get(chosen).add(record.tensor());
                                }
                            }
                            members.removeIf(each -> each.size() < 2);
                            return new PlanningProblem(records, members);
                        });
    }

    /** Returns problems with alias classes in which some pairs are in conflict at all times. */
    public static Arbitrary<PlanningProblem> withConflicts() {
        return Combinators.combine(
                        aliased(),
                        Arbitraries.integers()
                                .between(0, 9)
                                .withoutEdgeCases()
                                .list()
                                .ofSize(625)
                                .withoutEdgeCases())
                .as(
                        (problem, chosen) -> {
                            Conflicts.Builder conflicts = new Conflicts.Builder();
                            for (UsageRecord a : problem.records()) {
                                for (UsageRecord b : problem.records()) {
                                    if (a.tensor() < b.tensor()
                                            && chosen.get(25 * a.tensor() + b.tensor()) == 0) {
                                        conflicts.add(a.tensor(), b.tensor());
                                    }
                                }
                            }
                            return problem.withConflicts(conflicts.build());
                        });
    }
}
