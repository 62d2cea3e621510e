package org.djlplan.memplan.internal.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.memplan.testing.TightGraph;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPlannerTest {

    private static InPlace when(boolean inPlace) {
        return inPlace ? InPlace.TRUE : InPlace.FALSE;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void plan_graphAboveTheBound_isNotProvedMinimal(boolean inPlace) {
        EvaluatedPlan planned = MemoryPlanner.plan(TightGraph.of(inPlace), when(inPlace));
        assertTrue(planned.arenaBytes() > TightGraph.MINIMAL_BYTES);
        assertFalse(planned.provedMinimal());
        assertEquals(List.of(), PlanValidator.violations(planned.plan(), 64));
    }

    /** 512 KiB of saving are out of reach, so no tensors share places. */
    @Test
    void plan_inPlaceCannotPay_hasNoAliases() {
        EvaluatedPlan planned = MemoryPlanner.plan(TightGraph.of(true), InPlace.AUTO);
        assertEquals(0, planned.aliasedTensors());
    }

    @Test
    void plan_atTheBound_isProvedMinimal() {
        assertTrue(MemoryPlanner.plan(GraphSketch.chain(), InPlace.TRUE).provedMinimal());
    }
}
