package org.djlplan.delegation.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.DelegatedGraph;
import org.djlplan.delegation.partition.RandomGraphs;
import org.djlplan.delegation.partition.RandomGraphs.Delegable;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Objective;
import org.djlplan.memplan.spi.Candidate;

/** What holds of predictions for any graph. */
@Domain(RandomGraphs.class)
@Domain(DomainContext.Global.class)
class PredictorPropertyTest {

    private static long bytes(Delegable model, Candidate candidate) {
        BitSet delegated = new BitSet();
        candidate.operators().forEach(delegated::set);
        Dataflow flow = Dataflow.of(model.graph());
        return new PredictedMemory(flow).bytes(new DelegatedGraph(flow, delegated));
    }

    @Property(tries = 60)
    void predict_ofAnyGraph_delegatesWhatIsDelegable(
            @ForAll Delegable model, @ForAll Objective objective) {
        Candidate candidate =
                Predictor.predict(
                                model.graph(),
                                model.partitions(),
                                1,
                                new Goal(objective, OptionalLong.empty()),
                                LearntCosts.defaults())
                        .candidate();
        assertTrue(model.all().containsAll(candidate.operators()));
    }

    @Property(tries = 60)
    void predict_withALimitThatTheCpuMeets_meetsIt(
            @ForAll Delegable model, @ForAll Objective objective) {
        long limit = bytes(model, Candidate.cpu(1)) + 4_000;
        Candidate candidate =
                Predictor.predict(
                                model.graph(),
                                model.partitions(),
                                1,
                                new Goal(objective, OptionalLong.of(limit)),
                                LearntCosts.defaults())
                        .candidate();
        assertTrue(bytes(model, candidate) <= limit);
    }

    @Property(tries = 300)
    void downhill_ofCostsThatAreNearlyAdditive_findsTheBest(
            @ForAll Random random, @ForAll @IntRange(min = 1, max = 9) int units) {
        double[] gains = random.doubles(units, -1, 2).toArray();
        // Units that are apart are kernels apart.
        double kernel = random.nextDouble() / 2;
        ToDoubleFunction<BitSet> cost =
                union -> {
                    double sum = 2 * units;
                    for (int unit = union.nextSetBit(0); unit >= 0; ) {
                        boolean begins = unit == 0 || !union.get(unit - 1);
                        sum += (begins ? kernel : 0) - gains[unit];
                        unit = union.nextSetBit(unit + 1);
                    }
                    return sum;
                };
        double best = cost.applyAsDouble(BestUnion.enumerated(units, cost));
        double found = cost.applyAsDouble(BestUnion.downhill(units, cost));
        assertEquals(best, found, .05 * best);
    }
}
