package org.djlplan.integration.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.shared.SharedStrategies;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class PortfolioOnNetworksTest {

    @ParameterizedTest
    @EnumSource(PaperNetwork.class)
    void best_network_atLowerBound(PaperNetwork network) {
        Attempt best = best(network);
        assertEquals(best.lowerBoundBytes(), best.plan().totalBytes());
    }

    /**
     * On four networks the optimum exceeds the positional maxima, so the search has to prove it.
     */
    @ParameterizedTest
    @CsvSource({
        "MOBILENET_V1, 4816896",
        "MOBILENET_V2, 7024640",
        "DEEPLAB_V3, 6749568",
        "INCEPTION_V3, 10371200",
        "POSENET, 6423296",
        "BLAZEFACE, 1402880"
    })
    void optimalObjects_network_provesItsOptimum(PaperNetwork network, long optimumBytes) {
        for (Attempt attempt :
                SharedStrategies.attempts(
                        SharedStrategies.all(), List.of(network.sketch().problem()))) {
            assertTrue(attempt.valid(), attempt.violations()::toString);
            assertEquals(optimumBytes, attempt.lowerBoundBytes());
            if (attempt.name().equals("shared-optimal")) {
                assertEquals(optimumBytes, attempt.plan().totalBytes());
            }
        }
    }

    private static Attempt best(PaperNetwork network) {
        PlanningProblem problem = network.sketch().problem();
        Attempt best =
                new Portfolio(Portfolio.STRATEGIES, UsageRecords.ALIGNMENT_BYTES)
                        .best(List.of(problem));
        assertTrue(best.valid(), best.violations()::toString);
        return best;
    }
}
