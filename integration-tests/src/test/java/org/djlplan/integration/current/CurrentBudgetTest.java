package org.djlplan.integration.current;

import org.djlplan.integration.tflite.budget.BudgetAnswerTest;
import org.junit.jupiter.api.Tag;

/** {@link BudgetAnswerTest} on current DJL. */
@Tag("djl-current")
@Tag("long")
class CurrentBudgetTest extends BudgetAnswerTest {}
