package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Optional;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.profile.Trials.TimeBudget;
import org.junit.jupiter.api.Test;

class TimeBudgetTest {

    private static final long SECOND = 1_000_000_000L;

    /** The measurement begins when the clock already shows some time. */
    private long now = 5 * SECOND;

    private TimeBudget budget(Optional<Duration> time) {
        return new TimeBudget(() -> now, time, Optional.empty());
    }

    private TimeBudget tenSeconds() {
        return budget(Optional.of(Duration.ofSeconds(10)));
    }

    @Test
    void spent_time_isItsPartSinceTheBeginning() {
        TimeBudget budget = tenSeconds();
        assertEquals(0, budget.spent());
        now += 4 * SECOND;
        assertEquals(4 * SECOND, budget.elapsedNanos());
        assertEquals(0.4, budget.spent());
        now += 16 * SECOND;
        assertEquals(2, budget.spent());
    }

    @Test
    void spent_inferencesAreFewer_isTheLargerPart() {
        TimeBudget budget = tenSeconds();
        budget.ran(30);
        assertEquals(0, budget.spent(), "there may be any number of them");
        budget.allow(120);
        assertEquals(0.25, budget.spent(), "those of before count");
        budget.ran(30);
        assertEquals(60, budget.inferences());
        assertEquals(0.5, budget.spent());
        now += 9 * SECOND;
        assertEquals(0.9, budget.spent());
    }

    @Test
    void inferenceTakes_noBudgetGiven_growsOnce() {
        TimeBudget budget = budget(Optional.empty());
        double base = Request.BASE.toNanos();
        assertEquals(base, budget.runs(1, 1));
        now += 3 * SECOND;
        budget.inferenceTakes(SECOND);
        double grown = 3.0 * SECOND + base + (double) Request.INFERENCES * SECOND;
        assertEquals(grown, budget.runs(1, 1));
        budget.inferenceTakes(10 * SECOND);
        assertEquals(grown, budget.runs(1, 1));
    }

    @Test
    void inferenceTakes_budgetGiven_isAsGiven() {
        TimeBudget budget = tenSeconds();
        budget.inferenceTakes(SECOND);
        assertEquals(10, budget.runs(1, SECOND));
    }

    @Test
    void runs_part_isThatOfTheWholeAndNeverEndless() {
        TimeBudget budget = tenSeconds();
        assertEquals(5, budget.runs(0.25, SECOND / 2.0));
        assertEquals(10 * SECOND, budget.runs(1, 0));
    }
}
