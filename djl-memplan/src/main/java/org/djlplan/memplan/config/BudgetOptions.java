package org.djlplan.memplan.config;

import java.util.OptionalLong;

/**
 * The options of budgeted inference.
 *
 * @param budget the memory that the model may take
 * @param bestEffort whether a model that cannot be held inside its budget runs in as little as it
 *     can, instead of failing to load
 * @param io the way in which weights are read
 * @param quotaBytes what the files made from the model may take on disk; empty for twice its size
 */
public record BudgetOptions(
        Budget budget, boolean bestEffort, WeightIo io, OptionalLong quotaBytes) {

    /** No budget. */
    public static final BudgetOptions UNLIMITED =
            new BudgetOptions(new Budget.Unlimited(), false, WeightIo.AUTO, OptionalLong.empty());

    /** Returns whether there is a budget. */
    public boolean limited() {
        return !(budget instanceof Budget.Unlimited);
    }
}
