package org.djlplan.memplan;

import ai.djl.Model;
import java.util.Optional;
import org.djlplan.memplan.budget.BudgetTooSmallException;
import org.djlplan.memplan.config.Budget;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.djl.BudgetControl;
import org.djlplan.memplan.report.PlanReport;

/**
 * The plan of a loaded model: what it is, and its budget, which can be changed while the model
 * serves.
 *
 * <pre>{@code
 * try (ZooModel<Image, Classifications> model = criteria.loadModel()) { // with memplan.budget=48MB
 *     PlanHandle plan = PlanHandle.of(model).orElseThrow();
 *     System.out.println(plan.report());
 *     try {
 *         plan.setBudget("24MB"); // another model needs memory
 *     } catch (BudgetTooSmallException e) {
 *         plan.setBudget(e.leastBytes());
 *     }
 * }
 * }</pre>
 *
 * <p>Safe for use by several threads. It keeps neither the model nor its memory alive longer than
 * the model is open.
 */
public final class PlanHandle {

    private final Model model;

    private PlanHandle(Model model) {
        this.model = model;
    }

    /**
     * Returns the handle of a model that was loaded through djl-plan, planned or left to its
     * engine; empty for any other.
     */
    public static Optional<PlanHandle> of(Model model) {
        return PlanReport.of(model).map(report -> new PlanHandle(model));
    }

    /** Returns what was planned and what happened until now. */
    public PlanReport report() {
        return PlanReport.of(model).orElseThrow(() -> new IllegalStateException("another block"));
    }

    /**
     * Gives the model another budget, which counts from the next prediction on. On an error the
     * budget stays as it was.
     *
     * @param bytes memory that the model may take above that of the idle runtime
     * @throws BudgetTooSmallException if the model cannot run in it; it names the least budget.
     *     Never with {@code memplan.budget=…:best-effort}
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IllegalStateException if the model was loaded without a budget, runs as stock (the
     *     message says why), or is closed
     * @throws java.io.UncheckedIOException if files that the budget needs cannot be made
     */
    public void setBudget(long bytes) throws BudgetTooSmallException {
        set(new Budget.Bytes(bytes));
    }

    /**
     * The same with a text.
     *
     * @param budget as for the option {@code memplan.budget}: {@code 48MB}, {@code 25%} of what the
     *     stock engine takes, {@code auto}, or {@code none} for as much as the model needs
     * @throws BudgetTooSmallException as {@link #setBudget(long)} does
     * @throws IllegalArgumentException if the text is none of these
     */
    public void setBudget(String budget) throws BudgetTooSmallException {
        set(
                Budget.of(budget)
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "a budget of \""
                                                        + budget
                                                        + "\": must be "
                                                        + Budget.ALLOWED)));
    }

    private void set(Budget budget) throws BudgetTooSmallException {
        control().setBudget(budget);
    }

    private BudgetControl control() {
        return BudgetControl.of(model)
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        report().unplannedReason()
                                                .map(why -> "runs as stock: " + why)
                                                .orElse(
                                                        "loaded without a budget; "
                                                                + OptionKey.BUDGET.key()
                                                                + " sets one")));
    }
}
