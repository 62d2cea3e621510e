package org.djlplan.memplan;

import ai.djl.Model;
import ai.djl.translate.TranslateException;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.djl.InputLimit;
import org.djlplan.memplan.internal.djl.LoadTimePredictions;
import org.djlplan.memplan.internal.djl.MemoryFigures;
import org.djlplan.memplan.internal.djl.ModelHandle;
import org.djlplan.memplan.internal.djl.SharedPools;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * The handle of a loaded model. It has the model's report and readiness, and changes its budget and
 * its limits of requests while the model serves.
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
 * <p>Thread-safe. A handle does not keep the model or its memory alive.
 */
public final class PlanHandle {

    private final Model model;

    private PlanHandle(Model model) {
        this.model = model;
    }

    /**
     * Returns the handle of a model that was loaded through djl-plan, planned or not; empty for
     * other models.
     */
    public static Optional<PlanHandle> of(Model model) {
        return ModelHandle.of(model).map(handle -> new PlanHandle(model));
    }

    /** Looked up each time, because the model may be closed or be given another block. */
    private Optional<ModelHandle> handle() {
        return ModelHandle.of(model);
    }

    /**
     * Returns the current memory of this process by purpose; empty if the system does not report
     * it. Takes milliseconds.
     */
    public Optional<MemoryReport> memory() {
        return MemoryFigures.now(model);
    }

    /**
     * Returns the report of the plan and of the predictions so far.
     *
     * @throws IllegalStateException if the model is closed, or got another block
     */
    public PlanReport report() {
        return PlanReport.of(model)
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        model.getBlock() == null
                                                ? "the model is closed"
                                                : "the model was given another block"));
    }

    /**
     * Predicts with zeros of each of these shapes, so that the engine has prepared its data for a
     * shape before its first request. Each shape is predicted three times.
     *
     * @param inputs the inputs of one prediction each, in the format of the option {@code
     *     memplan.warmup}: {@code 1,3,224,224} or {@code 1,128:int64;1,128:int64}
     * @throws TranslateException if the model does not accept one of them
     * @throws IllegalArgumentException if a text does not describe shapes
     */
    public void warmUp(String... inputs) throws TranslateException {
        for (String each : inputs) {
            LoadTimePredictions.run(model, each);
        }
    }

    /**
     * Returns to the system, at once, the memory of arenas that no prediction uses, of this model
     * and of all models that share arenas with it, and freed memory that the C library keeps.
     * Without this call arenas return their memory when no prediction has run for ten seconds. The
     * next prediction takes a little longer.
     *
     * @since 0.3
     */
    public void trim() {
        handle().ifPresent(ModelHandle::trim);
        SharedPools.trim();
    }

    /**
     * Rejects predictions whose inputs have more than this many bytes in total, from the next
     * prediction on, so that one huge request does not exhaust the container. Rejection is an
     * {@link InputTooLargeException}, the cause of the predictor's {@code TranslateException}.
     *
     * @param bytes the limit for the inputs that the model gets, including padding and the whole
     *     batch
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IllegalStateException if the model runs as stock
     */
    public void limitInputBytes(long bytes) {
        limit().setMostBytes(bytes);
    }

    /**
     * The same for the longest dimension of any input, such as the length of a text; the memory of
     * some models grows with its square.
     *
     * @throws IllegalArgumentException if {@code length} is not positive
     * @throws IllegalStateException if the model runs as stock
     */
    public void limitDimensions(long length) {
        limit().setLongestDimension(length);
    }

    private InputLimit limit() {
        return handle().flatMap(ModelHandle::inputLimit)
                .orElseThrow(() -> new IllegalStateException(stockReason()));
    }

    /**
     * Returns whether the model serves in its final form, with the delegate verified. Suitable as a
     * readiness check, because it becomes true without requests. It is true at once for PyTorch and
     * ONNX Runtime models, and for models that run as stock. Does not wait.
     */
    public boolean isReady() {
        return handle().map(ModelHandle::isReady).orElse(true);
    }

    private String stockReason() {
        return "runs as stock: " + report().unplannedReason().orElse("of another block");
    }

    /**
     * Sets another budget, which applies from the next prediction on. On an error the budget is
     * unchanged.
     *
     * @param bytes memory that the model may take in addition to the idle runtime's
     * @throws BudgetTooSmallException if the model cannot run in the budget; the exception has the
     *     smallest possible one. Never thrown with {@code memplan.budget=…:best-effort}
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IllegalStateException if the model was loaded without a budget, runs as stock (the
     *     message says why), or is closed
     * @throws java.io.UncheckedIOException if files for the budget cannot be made, or the model's
     *     file was replaced since it was loaded
     */
    public void setBudget(long bytes) throws BudgetTooSmallException {
        set(new Budget.Bytes(bytes));
    }

    /**
     * The same with a text.
     *
     * @param budget value of the option {@code memplan.budget}: {@code 48MB}, {@code 25%} of the
     *     stock engine's memory, {@code auto}, or {@code none} for no limit
     * @throws BudgetTooSmallException as in {@link #setBudget(long)}
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

    /**
     * Returns whether the model has a budget that can be set; not if it runs as stock since an
     * error, is closed, or got another block.
     */
    boolean hasBudget() {
        return handle().filter(ModelHandle::hasBudget).isPresent();
    }

    private void set(Budget budget) throws BudgetTooSmallException {
        handle().filter(ModelHandle::hasBudget)
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        report().unplannedReason()
                                                .map(why -> "runs as stock: " + why)
                                                .orElse(
                                                        "loaded without a budget; "
                                                                + OptionKey.BUDGET.key()
                                                                + " sets one")))
                .setBudget(budget);
    }
}
