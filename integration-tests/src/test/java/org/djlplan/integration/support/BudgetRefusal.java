package org.djlplan.integration.support;

import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.thirdparty.guava.base.Throwables;

/** Finds the refusal of a budget among the causes of an exception. */
public final class BudgetRefusal {

    private BudgetRefusal() {}

    /** Returns the refusal; fails if there is none. */
    public static BudgetTooSmallException in(Throwable thrown) {
        return Throwables.getCausalChain(thrown).stream()
                .filter(BudgetTooSmallException.class::isInstance)
                .map(BudgetTooSmallException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError(thrown));
    }
}
