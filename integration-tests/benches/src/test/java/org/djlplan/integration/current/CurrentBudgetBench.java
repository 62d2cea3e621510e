package org.djlplan.integration.current;

import org.djlplan.integration.budget.BudgetBench;
import org.junit.jupiter.api.Tag;

/** {@link BudgetBench} on current DJL. */
@Tag("djl-current")
class CurrentBudgetBench extends BudgetBench {}
