package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.BudgetShares.Claim;
import org.junit.jupiter.api.Test;

class BudgetSharesTest {

    @Test
    void of_roomForAll_isInProportionToTheWeights() throws Exception {
        Claim small = new Claim(10, 99);
        Claim large = new Claim(20, 299);
        assertArrayEquals(new long[] {100, 300}, BudgetShares.of(400, List.of(small, large)));
    }

    @Test
    void of_shareBelowTheLeast_isTheLeastAndOthersGetLess() throws Exception {
        Claim needsMuch = new Claim(200, 99);
        Claim large = new Claim(20, 299);
        assertArrayEquals(new long[] {200, 200}, BudgetShares.of(400, List.of(needsMuch, large)));
    }

    @Test
    void of_belowMinimum_namesTheMinimum() {
        BudgetTooSmallException e =
                assertThrows(
                        BudgetTooSmallException.class,
                        () ->
                                BudgetShares.of(
                                        299, List.of(new Claim(200, 1), new Claim(100, 900))));
        assertEquals(300, e.leastBytes());
    }

    @Test
    void of_claimWithoutLimit_isRefused() {
        Claim unlimited = new Claim(Long.MAX_VALUE, 1);
        BudgetTooSmallException e =
                assertThrows(
                        BudgetTooSmallException.class,
                        () -> BudgetShares.of(300, List.of(unlimited, unlimited)));
        assertEquals(Long.MAX_VALUE, e.leastBytes());
    }

    @Test
    void of_noModels_isEmpty() throws Exception {
        assertEquals(0, BudgetShares.of(100, List.of()).length);
    }

    @Provide
    Arbitrary<List<Claim>> claims() {
        Arbitrary<Long> bytes = Arbitraries.longs().between(0, 1L << 40);
        return Combinators.combine(bytes, bytes).as(Claim::new).list().ofMaxSize(20);
    }

    @Property
    void of_any_givesEachItsLeastAndAllNoMoreThanThereIs(
            @ForAll("claims") List<Claim> claims,
            @ForAll @LongRange(min = 0, max = 1L << 40) long more)
            throws Exception {
        long budget = claims.stream().mapToLong(Claim::leastBytes).sum() + more;
        long[] shares = BudgetShares.of(budget, claims);
        assertTrue(Arrays.stream(shares).sum() <= budget);
        for (int i = 0; i < shares.length; i++) {
            assertTrue(shares[i] >= claims.get(i).leastBytes());
        }
    }
}
