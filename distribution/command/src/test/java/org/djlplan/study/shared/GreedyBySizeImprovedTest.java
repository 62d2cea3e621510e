package org.djlplan.study.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.PositionalMaxima;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;

/** Compares the fast implementation with one that tries every pair of a unit and an object. */
class GreedyBySizeImprovedTest {

    private record Pair(UsageRecord unit, int object, int idle) {}

    @Property(tries = 500)
    void plan_anyProblem_joinsTheNearestPairOfEachStage(
            @ForAll("problems") PlanningProblem problem) {
        assertEquals(slowly(problem), new GreedyBySizeImproved().objects(problem.units()));
    }

    private static Map<Integer, Integer> slowly(PlanningProblem problem) {
        List<Long> maxima = PositionalMaxima.of(problem.units());
        List<List<UsageRecord>> objects = new ArrayList<>();
        Map<Integer, Integer> chosen = new TreeMap<>();
        for (int position = 0; position < maxima.size(); position++) {
            long most = maxima.get(position);
            long next = position + 1 < maxima.size() ? maxima.get(position + 1) : 0;
            List<UsageRecord> stage =
                    new ArrayList<>(
                            problem.units().stream()
                                    .filter(u -> u.bytes() <= most && u.bytes() > next)
                                    .toList());
            while (!stage.isEmpty()) {
                Pair pair = nearest(stage, objects);
                if (pair.object == objects.size()) {
                    objects.add(new ArrayList<>());
                }
                objects.get(pair.object).add(pair.unit);
                chosen.put(pair.unit.tensor(), pair.object);
                stage.remove(pair.unit);
            }
        }
        return chosen;
    }

    private static Pair nearest(List<UsageRecord> stage, List<List<UsageRecord>> objects) {
        List<Pair> pairs = new ArrayList<>();
        for (UsageRecord unit : stage) {
            pairs.add(new Pair(unit, objects.size(), Integer.MAX_VALUE));
            for (int object = 0; object < objects.size(); object++) {
                if (objects.get(object).stream().noneMatch(unit::overlaps)) {
                    int idle =
                            objects.get(object).stream()
                                    .mapToInt(
                                            u ->
                                                    Math.max(
                                                            u.first() - unit.last(),
                                                            unit.first() - u.last()))
                                    .min()
                                    .getAsInt();
                    pairs.add(new Pair(unit, object, idle));
                }
            }
        }
        return pairs.stream()
                .min(
                        Comparator.comparingInt(Pair::idle)
                                .thenComparing(
                                        Comparator.comparingLong((Pair p) -> p.unit.bytes())
                                                .reversed())
                                .thenComparingInt(p -> p.unit.tensor())
                                .thenComparingInt(Pair::object))
                .orElseThrow();
    }

    @Provide
    Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
