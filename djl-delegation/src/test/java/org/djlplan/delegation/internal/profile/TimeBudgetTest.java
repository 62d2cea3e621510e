package org.djlplan.delegation.internal.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.profile.Trials.TimeBudget;
import org.junit.jupiter.api.Test;

class TimeBudgetTest {

    private static final long SECOND = 1_000_000_000L;

    private final List<String> shown = new ArrayList<>();

    /** The measurement begins when the clock already shows some time. */
    private long now = 5 * SECOND;

    private TimeBudget budget(Optional<Duration> time) {
        return new TimeBudget(() -> now, time, Optional.of(new Shown()));
    }

    private TimeBudget tenSeconds() {
        return budget(Optional.of(Duration.ofSeconds(10)));
    }

    /** Records the progress that is shown. */
    private final class Shown implements Progress {
        @Override
        public void reset(String message, long max, String trailingMessage) {
            shown.add(message + " of " + max);
        }

        @Override
        public void start(long initialProgress) {
            shown.add("from " + initialProgress);
        }

        @Override
        public void end() {
            shown.add("end");
        }

        @Override
        public void increment(long increment) {
            throw new AssertionError();
        }

        @Override
        public void update(long progress, String message) {
            shown.add(Long.toString(progress));
        }
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
        budget.inferenceTakes(SECOND);
        double grown = base + (double) Request.INFERENCES * SECOND;
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

    @Test
    void step_overdrawn_showsTheLastPercentOnlyAtTheEnd() throws InterruptedException {
        TimeBudget budget = tenSeconds();
        budget.begin("profiling");
        now += 3 * SECOND;
        budget.step();
        now += 30 * SECOND;
        budget.step();
        budget.end();
        assertEquals(List.of("profiling of 100", "from 0", "30", "99", "end"), shown);
    }

    @Test
    void step_interrupted_throwsAndShowsNothing() {
        TimeBudget budget = tenSeconds();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, budget::step);
        assertFalse(Thread.interrupted());
        assertEquals(List.of(), shown);
    }
}
