package org.djlplan.memplan.internal.djl;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.BudgetShares;
import org.djlplan.memplan.report.BudgetReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides a budget among models. Models may enter, leave and be closed at any time; the callers of
 * the other methods must exclude each other.
 *
 * <p>A model that refuses its share gets at least the budget that it named. A model whose budget
 * cannot be changed, such as for lack of disk space, keeps it during the division.
 *
 * @param <M> a model's type
 */
public final class BudgetDivision<M extends BudgetDivision.Member> {

    private static final Logger logger = LoggerFactory.getLogger(BudgetDivision.class);

    /** Denominator of the fraction by which a refused share grows at least. */
    private static final int GROWTH = 16;

    private final List<Share<M>> shares = new CopyOnWriteArrayList<>();

    /** The first problem of the current division. */
    private Optional<String> problem = Optional.empty();

    /** A model in the budget. */
    public interface Member {

        /** Returns whether its budget can be set; not if it is closed or was left to the engine. */
        boolean takesPart();

        /** Returns the report of its budget; empty while it has no limit. */
        Optional<BudgetReport> report();

        /**
         * Sets its budget. On an error the budget is unchanged.
         *
         * @throws BudgetTooSmallException if it cannot run in the budget
         */
        void setBudget(long bytes) throws BudgetTooSmallException;
    }

    /** A model with its share. */
    private static final class Share<M extends Member> {

        private final M member;

        /** The latest report of a limited budget. */
        private BudgetReport report;

        /** The model's present budget. */
        private long bytes;

        /** The share in the current division. */
        private long wantedBytes;

        /**
         * The smallest budget that the model named when it refused a smaller one; 0 if it never
         * did.
         */
        private long refusedBytes;

        /** Whether the model refused a share in the current division. */
        private boolean refused;

        /** Whether the budget cannot be changed in the current division. */
        private boolean stuck;

        Share(M member, BudgetReport report) {
            this.member = member;
            this.report = report;
            bytes = report.budgetBytes();
        }

        /** Reads the present budget; returns whether the model takes part. */
        boolean isPresent() {
            if (!member.takesPart()) {
                return false;
            }
            try {
                if (!stuck) {
                    Optional<BudgetReport> now = member.report();
                    report = now.orElse(report);
                    bytes = now.map(BudgetReport::budgetBytes).orElse(BudgetReport.UNLIMITED);
                }
                return true;
            } catch (RuntimeException e) {
                // Perhaps it was closed meanwhile.
                return member.takesPart();
            }
        }

        BudgetShares.Claim claim() {
            return stuck
                    ? new BudgetShares.Claim(bytes, 0)
                    : new BudgetShares.Claim(
                            Math.min(bytes, Math.max(refusedBytes, report.leastBudgetBytes())),
                            report.weightsBytes());
        }

        /** Notes that the model needs more than its share, but not more than it has. */
        void refuse(BudgetTooSmallException e) {
            refused = true;
            refusedBytes =
                    Math.min(
                            bytes,
                            Math.max(e.leastBytes(), wantedBytes + wantedBytes / GROWTH + 1));
        }
    }

    /**
     * Adds a model.
     *
     * @param report of its budget
     */
    public void add(M member, BudgetReport report) {
        shares.add(new Share<>(member, report));
    }

    /** Removes a model, without waiting for a division. */
    public void remove(M member) {
        shares.removeIf(share -> share.member == member);
    }

    /** Returns the models. */
    public List<M> members() {
        return shares.stream().map(share -> share.member).toList();
    }

    /**
     * Shrinks models until their total is at most a part of the budget.
     *
     * @throws BudgetTooSmallException if they need more; those that have shrunk stay so
     */
    public void shrinkTo(long part) throws BudgetTooSmallException {
        List<Share<M>> unused = shrunk(part);
    }

    /**
     * Divides the whole budget among the models, as far as possible. If a share cannot be set, the
     * model serves with the share that it has.
     */
    public void spread(long budgetBytes) {
        try {
            for (Share<M> share : shrunk(budgetBytes)) {
                if (share.wantedBytes > share.bytes && !share.stuck) {
                    raise(share);
                }
            }
        } catch (BudgetTooSmallException e) {
            note(e.getMessage());
        }
        problem.ifPresent(text -> logger.warn("budgets are unchanged: {}", text));
    }

    /** Returns the first problem of the latest division, other than a lack of room. */
    public Optional<String> problem() {
        return problem;
    }

    private void raise(Share<M> share) {
        try {
            share.member.setBudget(share.wantedBytes);
        } catch (BudgetTooSmallException e) {
            note(e.getMessage());
        } catch (RuntimeException e) {
            if (share.member.takesPart()) {
                note(e.toString());
            }
        }
    }

    private void note(String text) {
        problem = problem.or(() -> Optional.of(text));
    }

    /**
     * Computes the shares, and sets those that shrink, so that the total never exceeds the budget.
     * Models that are closed or were left to the engine take no part any more.
     */
    private List<Share<M>> shrunk(long part) throws BudgetTooSmallException {
        problem = Optional.empty();
        for (Share<M> share : shares) {
            share.refused = false;
            share.stuck = false;
        }
        List<Share<M>> sharing;
        do {
            sharing = shares.stream().filter(Share::isPresent).toList();
            shares.retainAll(sharing);
            divide(part, sharing);
        } while (!lowered(sharing));
        return sharing;
    }

    /**
     * Computes the shares. If the budget is too small, refusals of earlier divisions are forgotten,
     * because a model may need less since then.
     */
    private void divide(long part, List<Share<M>> sharing) throws BudgetTooSmallException {
        long[] divided;
        try {
            divided = BudgetShares.of(part, claims(sharing));
        } catch (BudgetTooSmallException e) {
            sharing.stream().filter(each -> !each.refused).forEach(each -> each.refusedBytes = 0);
            divided = BudgetShares.of(part, claims(sharing));
        }
        for (int i = 0; i < divided.length; i++) {
            sharing.get(i).wantedBytes = divided[i];
        }
    }

    private static <M extends Member> List<BudgetShares.Claim> claims(List<Share<M>> sharing) {
        return sharing.stream().map(Share::claim).toList();
    }

    /** Sets the shares that shrink; returns whether all these models can run in them. */
    private boolean lowered(List<Share<M>> sharing) {
        for (Share<M> share : sharing) {
            if (share.wantedBytes < share.bytes) {
                try {
                    share.member.setBudget(share.wantedBytes);
                    share.bytes = share.wantedBytes;
                } catch (BudgetTooSmallException e) {
                    share.refuse(e);
                    return false;
                } catch (RuntimeException e) {
                    share.stuck = true;
                    if (share.member.takesPart()) {
                        note(e.toString());
                    }
                    return false;
                }
            }
        }
        return true;
    }
}
