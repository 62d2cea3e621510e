package org.djlplan.memplan.rows;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * How a {@link RowPredictor} groups rows of different lengths, so that little is padded and no
 * batch takes more than so much. A batch has as many tokens as its longest row times its rows.
 * Immutable.
 *
 * <pre>{@code
 * try (RowPredictor<String, float[]> predictor =
 *         new RowPredictor<>(model, RowGrouping.ofTokens(4096), 2)) {
 *     Iterator<float[]> embeddings = predictor.predict(texts);
 *     ...
 * }
 * }</pre>
 */
public final class RowGrouping {

    /** How many rows are looked at together unless told otherwise. */
    public static final int DEFAULT_WINDOW = 256;

    /** Bounds a batch's padded tokens or its bytes. */
    enum Unit {
        TOKENS,
        BYTES,
        /** Those that the model's budget leaves. */
        BUDGET
    }

    private final Unit unit;
    private final long most;
    private final int window;
    private final boolean refusing;
    private final boolean cutting;

    private RowGrouping(Unit unit, long most, int window, boolean refusing, boolean cutting) {
        checkArgument(most > 0, "batches of %s", most);
        checkArgument(window > 0, "%s rows at a time", window);
        this.unit = unit;
        this.most = most;
        this.window = window;
        this.refusing = refusing;
        this.cutting = cutting;
    }

    /**
     * Batches of so many tokens, those that fill up shorter rows included.
     *
     * @throws IllegalArgumentException if {@code most} is not positive
     */
    public static RowGrouping ofTokens(long most) {
        return new RowGrouping(Unit.TOKENS, most, DEFAULT_WINDOW, false, false);
    }

    /**
     * Batches whose tensors take so many bytes at once, as {@code PlanHandle.bytesFor} tells; of
     * two or three rows as long as it does not.
     *
     * @throws IllegalArgumentException if {@code most} is not positive
     */
    public static RowGrouping ofBytes(long most) {
        return new RowGrouping(Unit.BYTES, most, DEFAULT_WINDOW, false, false);
    }

    /**
     * Batches whose tensors take as many bytes as the model's {@code memplan.budget} leaves beside
     * the least that it needs for its weights: a half of the difference between the two budgets.
     */
    public static RowGrouping ofBudget() {
        return new RowGrouping(Unit.BUDGET, Long.MAX_VALUE, DEFAULT_WINDOW, false, false);
    }

    /**
     * The same with another number of rows that are looked at together, and are in memory at once.
     *
     * @throws IllegalArgumentException if {@code rows} is not positive
     */
    public RowGrouping withWindow(int rows) {
        return new RowGrouping(unit, most, rows, refusing, cutting);
    }

    /**
     * The same for a model that must not run what is larger: a row that alone is over the bound
     * fails, with the required and the allowed size. Otherwise it runs alone.
     */
    public RowGrouping refusingLargerRows() {
        return new RowGrouping(unit, most, window, true, cutting);
    }

    /**
     * The same for a model with an output for each token, such as the states of an encoder: what
     * padding put out is cut off before the translator sees it. For one whose outputs are of the
     * same size whatever the length is, it must not be set.
     */
    public RowGrouping withOutputsOfTokens() {
        return new RowGrouping(unit, most, window, refusing, true);
    }

    Unit unit() {
        return unit;
    }

    long most() {
        return most;
    }

    int window() {
        return window;
    }

    boolean isRefusing() {
        return refusing;
    }

    boolean isCutting() {
        return cutting;
    }
}
