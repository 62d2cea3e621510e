package org.djlplan.delegation.internal.choice;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.djlplan.delegation.internal.choice.Race.Contender;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class GoalTest {

    private static final long MB = 1 << 20;

    private static Contender contender(int kernels, long bytes) {
        ImmutableSortedSet<Integer> operators =
                kernels == 0 ? ImmutableSortedSet.of() : ImmutableSortedSet.of(kernels);
        return new Contender(new Candidate(operators, 1), kernels, bytes);
    }

    private static Goal goal(Objective objective, OptionalLong limit) {
        return new Goal(objective, limit);
    }

    @Test
    void eligible_withLimit_hasCandidatesWithinIt() {
        Contender small = contender(0, 10 * MB);
        Contender large = contender(1, 30 * MB);
        Goal limited = goal(Objective.LATENCY, OptionalLong.of(20 * MB));

        assertEquals(List.of(small), limited.eligible(List.of(small, large)));
    }

    @Test
    void eligible_memoryGoal_hasCandidatesNearTheMinimum() {
        Contender least = contender(0, 10 * MB);
        Contender asLittle = contender(1, 10 * MB + 200_000);
        Contender more = contender(2, 11 * MB);
        Goal memory = goal(Objective.MEMORY, OptionalLong.empty());

        assertEquals(List.of(least, asLittle), memory.eligible(List.of(least, asLittle, more)));
    }

    @Test
    void cost_byObjective_ordersAsWanted() {
        Goal latency = goal(Objective.LATENCY, OptionalLong.empty());
        Goal memory = goal(Objective.MEMORY, OptionalLong.empty());
        Goal balanced = goal(Objective.BALANCED, OptionalLong.empty());
        Goal limited = goal(Objective.LATENCY, OptionalLong.of(20 * MB));

        assertAll(
                () -> assertTrue(latency.cost(1e6, 9, 1) < latency.cost(1e6, 9, 2)),
                () -> assertTrue(latency.cost(9e5, 9, 9) < latency.cost(1e6, 9, 1)),
                () -> assertTrue(memory.cost(9e6, MB, 3) < memory.cost(1e6, 2 * MB, 1)),
                () -> assertTrue(memory.cost(1e6, MB, 1) < memory.cost(9e6, MB, 1)),
                () -> assertTrue(balanced.cost(3e6, MB, 1) < balanced.cost(2e6, 2 * MB, 1)),
                () -> assertTrue(limited.cost(9e9, 20 * MB, 5) < limited.cost(1, 21 * MB, 1)));
    }

    @Test
    void simplest_byPartitionsThenThreadsThenOperators() {
        Contender one = new Contender(new Candidate(ImmutableSortedSet.of(1), 1), 1, 0);
        Contender onLarge = new Contender(new Candidate(ImmutableSortedSet.of(1, 2), 1), 1, 0);
        Contender onTwo = new Contender(new Candidate(ImmutableSortedSet.of(1), 2), 1, 0);
        Contender onMany = new Contender(new Candidate(ImmutableSortedSet.of(1), -1), 1, 0);
        Contender cpu = new Contender(Candidate.cpu(-1), 0, 0);

        List<Contender> sorted = new ArrayList<>(List.of(onMany, onTwo, onLarge, cpu, one));
        sorted.sort(Contender.SIMPLEST);

        assertEquals(List.of(cpu, one, onLarge, onTwo, onMany), sorted);
    }
}
