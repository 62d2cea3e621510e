package org.djlplan.memplan;

import ai.djl.Model;
import ai.djl.translate.TranslateException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.budget.BudgetTooSmallException;
import org.djlplan.memplan.budget.InputTooLargeException;
import org.djlplan.memplan.config.Budget;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.djl.BudgetControl;
import org.djlplan.memplan.djl.Forecast;
import org.djlplan.memplan.djl.InputLimit;
import org.djlplan.memplan.djl.LoadTimePredictions;
import org.djlplan.memplan.djl.MemoryFigures;
import org.djlplan.memplan.djl.Readiness;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * The plan of a loaded model: what it is, whether it is made, its budget and how large requests may
 * be, which can be changed while the model serves.
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

    /**
     * Returns the memory of this process by what it is for, as of now; empty where the system does
     * not tell. Takes milliseconds.
     */
    public Optional<MemoryReport> memory() {
        return MemoryFigures.now(model);
    }

    /**
     * Returns what was planned and what happened until now.
     *
     * @throws IllegalStateException if the model is closed, or was given another block
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
     * Predicts zeros of each of these shapes, so that the engine has what it makes for a shape when
     * the first request of that shape comes. Each is predicted three times.
     *
     * @param inputs the inputs of one prediction each, as the option {@code memplan.warmup} has
     *     them: {@code 1,3,224,224} or {@code 1,128:int64;1,128:int64}
     * @throws TranslateException if the model does not take one of them
     * @throws IllegalArgumentException if a text names no shapes
     */
    public void warmUp(String... inputs) throws TranslateException {
        for (String each : inputs) {
            LoadTimePredictions.run(model, each);
        }
    }

    /**
     * Returns how many bytes the tensors of a prediction take at once: its arena, and what outlives
     * it, as its outputs do. That is known of PyTorch models without a prediction of these shapes,
     * from two to four predictions of others; on a thread with as many threads for an operator as
     * predictions have.
     *
     * <p>Not in it: the inputs, the weights, and what the engine's kernels keep for themselves.
     *
     * @param inputs of one prediction, batches as they are: {@code 8,128:int64;8,128:int64}
     * @return empty as long as it is not known for sure, for models whose sizes depend on values,
     *     and for TensorFlow Lite
     * @throws IllegalArgumentException if the text names no shapes
     */
    public OptionalLong bytesFor(String inputs) {
        List<ArrayType> types =
                LoadTimePredictions.inputs(inputs).stream()
                        .map(input -> new ArrayType(input.dataType(), input.shape()))
                        .toList();
        return Forecast.of(model)
                .map(forecast -> forecast.bytes(types))
                .orElse(OptionalLong.empty());
    }

    /**
     * Refuses predictions whose inputs have more bytes, all together, from the next one on: one
     * giant request must not take the container. The refusal is an {@link InputTooLargeException},
     * the cause of the {@code TranslateException} that the predictor throws.
     *
     * @param bytes as the model gets them, padding and all that a batch consists of included
     * @throws IllegalArgumentException if {@code bytes} is not positive
     * @throws IllegalStateException if the model runs as stock
     */
    public void limitInputBytes(long bytes) {
        limit().setMostBytes(bytes);
    }

    /**
     * The same for the longest dimension of any input, such as the length of a text, of which some
     * models need memory by its square.
     *
     * @throws IllegalArgumentException if {@code length} is not positive
     * @throws IllegalStateException if the model runs as stock
     */
    public void limitDimensions(long length) {
        limit().setLongestDimension(length);
    }

    private InputLimit limit() {
        return InputLimit.of(model).orElseThrow(() -> new IllegalStateException(stockReason()));
    }

    /**
     * Returns whether the model serves as it will go on to, the delegate's part verified. For a
     * check of readiness: it becomes true without requests. Of a PyTorch model, whose predictions
     * have an arena before there is a plan, and of one that runs as stock it is true at once. Does
     * not wait.
     */
    public boolean isReady() {
        return Readiness.of(model).map(Readiness::isReady).orElse(true);
    }

    private String stockReason() {
        return "runs as stock: " + report().unplannedReason().orElse("of another block");
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
