package org.djlplan.integration.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.plan.portfolio.Attempt;
import org.djlplan.memplan.plan.portfolio.Portfolio;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecords;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PortfolioOnNetworksTest {

    @ParameterizedTest
    @EnumSource(value = PaperNetwork.class, mode = EnumSource.Mode.EXCLUDE, names = "DEEPLAB_V3")
    void best_network_atLowerBound(PaperNetwork network) {
        Attempt best = best(network);
        assertEquals(best.lowerBoundBytes(), best.plan().totalBytes());
    }

    @Test
    void best_deepLab_withinEightPercent() {
        Attempt best = best(PaperNetwork.DEEPLAB_V3);
        assertEquals(4_530_240, best.lowerBoundBytes());
        assertTrue(best.plan().totalBytes() <= 4_878_720, best::name);
    }

    private static Attempt best(PaperNetwork network) {
        PlanningProblem problem = network.sketch().problem();
        Attempt best =
                new Portfolio(Strategies.named(Strategies.BEST), UsageRecords.ALIGNMENT_BYTES)
                        .best(List.of(problem));
        assertTrue(best.valid(), best.violations()::toString);
        return best;
    }
}
