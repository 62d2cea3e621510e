package org.djlplan.integration.current;

import org.djlplan.integration.tflite.budget.BudgetHeldTest;
import org.junit.jupiter.api.Tag;

/** {@link BudgetHeldTest} on current DJL. */
@Tag("djl-current")
class CurrentBudgetHeldTest extends BudgetHeldTest {}
