package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

class BudgetDivisionTest {

    private static final long WHOLE = 1_000_000;

    private final BudgetDivision<Fake> division = new BudgetDivision<>();

    /** A model with weights of one byte. */
    private static final class Fake implements BudgetDivision.Member {

        private long bytes;

        /** The least budget in its report. */
        private long reportedBytes;

        /** Smaller budgets are refused. */
        private long leastBytes;

        /** The least budget that a refusal names. */
        private long namedBytes;

        private boolean failing;
        private boolean closed;
        private boolean closesWhenSet;
        private int changes;

        Fake(long bytes, long leastBytes) {
            this.bytes = bytes;
            this.leastBytes = leastBytes;
            reportedBytes = leastBytes;
            namedBytes = leastBytes;
        }

        @Override
        public boolean takesPart() {
            return !closed;
        }

        @Override
        public Optional<BudgetReport> report() {
            if (closed) {
                throw new IllegalStateException("closed");
            }
            return bytes == BudgetReport.UNLIMITED
                    ? Optional.empty()
                    : Optional.of(Reports.whole(bytes, reportedBytes, 0, 1));
        }

        @Override
        public void setBudget(long wanted) throws BudgetTooSmallException {
            changes++;
            closed |= closesWhenSet;
            if (closed) {
                throw new IllegalStateException("closed");
            }
            if (failing) {
                throw new UncheckedIOException(new IOException("no space left"));
            }
            if (wanted < leastBytes) {
                throw new BudgetTooSmallException("too small", namedBytes);
            }
            bytes = wanted;
        }
    }

    private Fake member(long bytes, long leastBytes) {
        Fake fake = new Fake(bytes, leastBytes);
        division.add(fake, fake.report().orElseThrow());
        return fake;
    }

    private List<String> warningsOfSpread() {
        try (LogCapture log = new LogCapture()) {
            division.spread(WHOLE);
            return log.ours("WARN");
        }
    }

    private void spreadQuietly() {
        assertEquals(List.of(), warningsOfSpread());
    }

    @Test
    void spread_memberWasSetDirectly_getsItsShareAgain() throws Exception {
        Fake one = member(WHOLE, 1000);
        one.setBudget(5000);
        spreadQuietly();
        assertEquals(WHOLE, one.bytes);
    }

    @Test
    void spread_oneCannotGrow_othersDoAndItWarnsOnce() {
        Fake first = member(1000, 1000);
        Fake second = member(1000, 1000);
        Fake third = member(1000, 1000);
        first.failing = true;
        second.failing = true;
        List<String> warnings = warningsOfSpread();
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("budgets are unchanged: "), warnings.get(0));
        assertTrue(warnings.get(0).contains("no space left"), warnings.get(0));
        assertEquals(1000, first.bytes);
        assertEquals(1000, second.bytes);
        assertTrue(third.bytes > WHOLE / 4, "of " + third.bytes);
    }

    @Test
    void shrinkTo_oneCannotShrink_othersDoInstead() throws Exception {
        Fake stuck = member(WHOLE / 2, 1000);
        Fake other = member(WHOLE / 2, 1000);
        stuck.failing = true;
        division.shrinkTo(WHOLE * 6 / 10);
        assertEquals(WHOLE / 2, stuck.bytes);
        assertTrue(other.bytes <= WHOLE / 10, "of " + other.bytes);
        BudgetTooSmallException e =
                assertThrows(
                        BudgetTooSmallException.class, () -> division.shrinkTo(WHOLE * 4 / 10));
        assertEquals(WHOLE / 2 + 1000, e.leastBytes());
        assertTrue(division.problem().orElseThrow().contains("no space left"));
    }

    @Test
    void shrinkTo_memberWithoutLimitCannotShrink_isRefused() {
        Fake stuck = member(WHOLE / 2, 1000);
        Fake other = member(WHOLE / 2, 1000);
        stuck.failing = true;
        stuck.bytes = BudgetReport.UNLIMITED;
        assertThrows(BudgetTooSmallException.class, () -> division.shrinkTo(WHOLE / 2));
        assertEquals(WHOLE / 2, other.bytes);
    }

    @Test
    void shrinkTo_oneIsClosedMeanwhile_leavesItOut() throws Exception {
        Fake closing = member(WHOLE / 2, 1000);
        Fake other = member(WHOLE / 2, 1000);
        closing.closesWhenSet = true;
        division.shrinkTo(WHOLE * 6 / 10);
        assertEquals(WHOLE / 2, other.bytes);
        assertEquals(List.of(other), division.members());
    }

    @Test
    void shrinkTo_refusesMoreThanItReports_sharesWithThatLeast() throws Exception {
        Fake one = member(WHOLE / 2, 300_000);
        Fake other = member(WHOLE / 2, 1000);
        one.reportedBytes = 1000;
        division.shrinkTo(400_000);
        assertEquals(300_000, one.bytes);
        assertTrue(other.bytes <= 100_000, "of " + other.bytes);
    }

    /** Each attempt may write a copy of a model. */
    @Test
    void shrinkTo_refusalsNameWhatIsRefused_endsSoon() throws Exception {
        Fake one = member(WHOLE / 2, 400_000);
        Fake other = member(WHOLE / 2, 1000);
        one.reportedBytes = 1000;
        one.namedBytes = 1000;
        division.shrinkTo(WHOLE / 2);
        assertTrue(one.bytes >= 400_000, "of " + one.bytes);
        assertTrue(one.changes < 20, one.changes + " attempts");
        assertTrue(one.bytes + other.bytes <= WHOLE / 2);
    }

    @Test
    void shrinkTo_refusedOnce_isNotTriedAgainWhileThereIsRoom() throws Exception {
        Fake one = member(WHOLE / 2, 300_000);
        Fake other = member(WHOLE / 2, 1000);
        one.reportedBytes = 1000;
        division.shrinkTo(400_000);
        int changes = one.changes;
        division.shrinkTo(350_000);
        assertEquals(changes, one.changes);
        assertTrue(other.bytes <= 50_000, "of " + other.bytes);
    }

    @Test
    void shrinkTo_needsLessThanItOnceRefused_shrinks() throws Exception {
        Fake one = member(WHOLE, 600_000);
        one.reportedBytes = 1000;
        assertThrows(BudgetTooSmallException.class, () -> division.shrinkTo(WHOLE / 2));
        one.leastBytes = 1000;
        one.namedBytes = 1000;
        division.shrinkTo(WHOLE / 2);
        assertEquals(WHOLE / 2, one.bytes);
    }
}
