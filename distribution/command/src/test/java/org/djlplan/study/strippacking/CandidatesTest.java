package org.djlplan.study.strippacking;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;

class CandidatesTest {

    @Property(tries = 300)
    void bestWithin_anyUnitsAndSpans_isTheFirstThatLiesWithin(
            @ForAll("units") List<UsageRecord> units, @ForAll Random random) {
        Candidates candidates = new Candidates(units);
        Set<Integer> removed = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            int first = random.nextInt(20);
            int last = first + random.nextInt(20);
            assertEquals(
                    IntStream.range(0, units.size())
                            .filter(rank -> !removed.contains(rank))
                            .filter(rank -> first <= units.get(rank).first())
                            .filter(rank -> units.get(rank).last() <= last)
                            .findFirst(),
                    candidates.bestWithin(first, last));
            if (!units.isEmpty() && random.nextBoolean()) {
                int rank = random.nextInt(units.size());
                if (removed.add(rank)) {
                    candidates.remove(rank);
                }
            }
        }
    }

    @Provide
    Arbitrary<List<UsageRecord>> units() {
        return Problems.records();
    }
}
