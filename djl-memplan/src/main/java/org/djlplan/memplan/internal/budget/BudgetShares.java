package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import org.djlplan.memplan.errors.BudgetTooSmallException;

/** Divides a budget among models. */
public final class BudgetShares {

    private BudgetShares() {}

    /**
     * A model's claim to a share of the budget.
     *
     * @param leastBytes smallest share with which the model runs
     * @param weightBytes size of its weights, which determines its share
     */
    public record Claim(long leastBytes, long weightBytes) {

        public Claim {
            checkArgument(leastBytes >= 0 && weightBytes >= 0, "%s, %s", leastBytes, weightBytes);
        }
    }

    /**
     * Returns a share for each claim: in proportion to its weights, but at least its minimum. The
     * total is at most the budget.
     *
     * @throws BudgetTooSmallException if the budget is smaller than the sum of the minima
     */
    public static long[] of(long budgetBytes, List<Claim> claims) throws BudgetTooSmallException {
        long least = 0;
        for (Claim claim : claims) {
            least += Math.min(claim.leastBytes(), Long.MAX_VALUE - least);
        }
        if (least > budgetBytes) {
            throw new BudgetTooSmallException(
                    "%d models need at least %d bytes, more than %d"
                            .formatted(claims.size(), least, budgetBytes),
                    least);
        }
        boolean[] atLeast = new boolean[claims.size()];
        while (true) {
            long left = budgetBytes;
            double weights = 0;
            for (int i = 0; i < atLeast.length; i++) {
                left -= atLeast[i] ? claims.get(i).leastBytes() : 0;
                weights += atLeast[i] ? 0 : weight(claims.get(i));
            }
            long[] shares = new long[claims.size()];
            boolean all = true;
            for (int i = 0; i < atLeast.length; i++) {
                Claim claim = claims.get(i);
                shares[i] =
                        atLeast[i] ? claim.leastBytes() : (long) (left * (weight(claim) / weights));
                if (shares[i] < claim.leastBytes()) {
                    atLeast[i] = true;
                    all = false;
                }
            }
            if (all) {
                return shares;
            }
        }
    }

    /** A claim without weights counts a little, too. */
    private static double weight(Claim claim) {
        return claim.weightBytes() + 1.0;
    }
}
