package org.djlplan.memplan.config;

import java.util.OptionalLong;

/**
 * The options of budgeted inference.
 *
 * @param budget the memory that the model may take
 * @param sharedBytes what all models of this process together may take; empty for any amount
 * @param bestEffort whether a model that cannot be held inside its budget runs in as little as it
 *     can, instead of failing to load
 * @param io the way in which weights are read
 * @param quotaBytes what the files made from the model may take on disk; empty for twice its size
 */
public record BudgetOptions(
        Budget budget,
        OptionalLong sharedBytes,
        boolean bestEffort,
        WeightIo io,
        OptionalLong quotaBytes) {

    /** No budget. */
    public static final BudgetOptions UNLIMITED =
            new BudgetOptions(
                    new Budget.Unlimited(),
                    OptionalLong.empty(),
                    false,
                    WeightIo.AUTO,
                    OptionalLong.empty());

    /** Returns whether there is a budget. */
    public boolean limited() {
        return !(budget instanceof Budget.Unlimited);
    }
}
