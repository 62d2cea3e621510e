package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.djl.ModelHandle;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PlanReport.Plan;
import org.djlplan.memplan.report.PlanReport.Predictions;
import org.junit.jupiter.api.Test;

class PlanHandleTest {

    private boolean closed;
    private final Block block = Blocks.identityBlock();
    private final Model model =
            (Model)
                    Proxy.newProxyInstance(
                            Model.class.getClassLoader(),
                            new Class<?>[] {Model.class},
                            (proxy, method, arguments) ->
                                    switch (method.getName()) {
                                        case "getBlock" -> closed ? null : block;
                                        default -> throw new AssertionError(method);
                                    });
    private final List<Budget> budgets = new ArrayList<>();

    private PlanHandle planned() {
        PlanReport report =
                new PlanReport(
                        "TFLite",
                        Optional.empty(),
                        Plan.NONE,
                        List.of(),
                        Predictions.NONE,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty());
        return handle(() -> report);
    }

    private PlanHandle handle(ModelHandle handle) {
        ReportSources.register(block, handle);
        return PlanHandle.of(model).orElseThrow();
    }

    private PlanHandle budgeted() {
        PlanReport report = planned().report();
        return handle(
                new ModelHandle() {
                    @Override
                    public PlanReport get() {
                        return report;
                    }

                    @Override
                    public boolean hasBudget() {
                        return true;
                    }

                    @Override
                    public void setBudget(Budget budget) {
                        budgets.add(budget);
                    }
                });
    }

    @Test
    void of_modelThatIsNotOurs_isEmpty() {
        assertEquals(Optional.empty(), PlanHandle.of(model));
    }

    @Test
    void setBudget_everyForm_reachesTheModel() throws BudgetTooSmallException {
        PlanHandle plan = budgeted();
        plan.setBudget(48_000_000);
        plan.setBudget("48MiB");
        plan.setBudget("25%");
        plan.setBudget("auto");
        plan.setBudget("none");
        assertEquals(
                List.of(
                        new Budget.Bytes(48_000_000),
                        new Budget.Bytes(48 << 20),
                        new Budget.ShareOfStock(.25),
                        new Budget.Auto(),
                        new Budget.Unlimited()),
                budgets);
    }

    @Test
    void setBudget_noBudget_isAnArgumentError() {
        PlanHandle plan = budgeted();
        assertThrows(IllegalArgumentException.class, () -> plan.setBudget(0));
        assertEquals(
                "a budget of \"much\": must be " + Budget.ALLOWED,
                assertThrows(IllegalArgumentException.class, () -> plan.setBudget("much"))
                        .getMessage());
        assertEquals(List.of(), budgets);
    }

    @Test
    void setBudget_modelWithoutOne_saysWhichOptionSetsIt() {
        PlanHandle plan = planned();
        assertEquals(
                "loaded without a budget; memplan.budget sets one",
                assertThrows(IllegalStateException.class, () -> plan.setBudget(1)).getMessage());
    }

    @Test
    void setBudget_closedModel_saysThatItIsClosed() {
        PlanHandle plan = budgeted();
        closed = true;
        assertEquals(
                "the model is closed",
                assertThrows(IllegalStateException.class, () -> plan.setBudget(1)).getMessage());
    }
}
