package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** Streaming problems, written by hand and random. */
final class StreamingProblems {

    static final long PAGE = WeightUse.PAGE_BYTES;

    private StreamingProblems() {}

    /** Returns costs in which a page takes 10 nanoseconds to load. */
    static StepCosts costs(long... computeNanos) {
        return new StepCosts(computeNanos, PAGE / 10.0, 0);
    }

    /** Returns uses of the pieces 0, 1, … from triples: first step, last step, pages. */
    static List<WeightUse> uses(int... numbers) {
        List<WeightUse> uses = new ArrayList<>();
        for (int i = 0; i < numbers.length; i += 3) {
            uses.add(new WeightUse(i / 3, numbers[i], numbers[i + 1], numbers[i + 2] * PAGE));
        }
        return uses;
    }

    /** Returns the records 0, 1, … from triples: first step, last step, bytes. */
    static PlanningProblem activations(int... numbers) {
        List<UsageRecord> records = new ArrayList<>();
        for (int i = 0; i < numbers.length; i += 3) {
            records.add(new UsageRecord(i / 3, numbers[i], numbers[i + 1], numbers[i + 2]));
        }
        return new PlanningProblem(records);
    }

    /** Returns problems of up to 14 steps, 10 units of up to 9 pages, and 12 uses of up to 6. */
    static Arbitrary<StreamingProblem> any() {
        Arbitrary<List<List<Integer>>> triples =
                Arbitraries.integers().between(0, 13).list().ofSize(3).list().ofMaxSize(12);
        return Combinators.combine(
                        Arbitraries.longs().between(0, 60).list().ofMinSize(1).ofMaxSize(14),
                        triples.map(all -> all.subList(0, Math.min(all.size(), 10))),
                        triples,
                        Arbitraries.integers().between(0, 20))
                .as(StreamingProblems::problem);
    }

    static StreamingProblem problem(
            List<Long> nanos, List<List<Integer>> units, List<List<Integer>> pieces, int overhead) {
        int steps = nanos.size();
        List<UsageRecord> records = new ArrayList<>();
        for (List<Integer> t : units) {
            int[] range = range(t, steps);
            long bytes = 64L * (1 + t.get(2) * (t.get(0) % 2 == 0 ? 1 : 41));
            records.add(new UsageRecord(records.size(), range[0], range[1], bytes));
        }
        List<WeightUse> uses = new ArrayList<>();
        for (List<Integer> t : pieces) {
            int[] range = range(t, steps);
            int last = Math.min(range[1], range[0] + 1);
            uses.add(new WeightUse(uses.size(), range[0], last, (1 + t.get(2) % 6) * PAGE));
        }
        uses.sort(Comparator.comparingInt(WeightUse::first));
        return new StreamingProblem(
                new PlanningProblem(records),
                uses,
                new StepCosts(
                        nanos.stream().mapToLong(Long::longValue).toArray(),
                        PAGE / 10.0,
                        overhead));
    }

    private static int[] range(List<Integer> triple, int steps) {
        int[] range = {triple.get(0) % steps, triple.get(1) % steps};
        Arrays.sort(range);
        return range;
    }
}
