package org.djlplan.memplan.rows;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * The way in which a {@link RowPredictor} groups rows of different lengths, so that there is little
 * padding and no batch exceeds a limit. The number of tokens of a batch is the length of its
 * longest row times its number of rows. Immutable.
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

    /** Default number of rows that are grouped at a time. */
    public static final int DEFAULT_WINDOW = 256;

    private final long most;
    private final int window;
    private final boolean refusing;
    private final boolean cutting;

    private RowGrouping(long most, int window, boolean refusing, boolean cutting) {
        checkArgument(most > 0, "batches of %s", most);
        checkArgument(window > 0, "%s rows at a time", window);
        this.most = most;
        this.window = window;
        this.refusing = refusing;
        this.cutting = cutting;
    }

    /**
     * Returns a grouping into batches of at most this many tokens, including padding.
     *
     * @throws IllegalArgumentException if {@code most} is not positive
     */
    public static RowGrouping ofTokens(long most) {
        return new RowGrouping(most, DEFAULT_WINDOW, false, false);
    }

    /**
     * Returns this grouping with another number of rows that are grouped at a time, and are in
     * memory at once.
     *
     * @throws IllegalArgumentException if {@code rows} is not positive
     */
    public RowGrouping withWindow(int rows) {
        return new RowGrouping(most, rows, refusing, cutting);
    }

    /**
     * Returns this grouping for a model that must not run larger rows: a single row over the limit
     * fails, with the required and the allowed size. Otherwise such a row runs alone.
     */
    public RowGrouping refusingLargerRows() {
        return new RowGrouping(most, window, true, cutting);
    }

    /**
     * Returns this grouping for a model with an output for each token, such as the states of an
     * encoder: outputs of padding are removed before the translator sees them. It must not be used
     * for models whose output size does not depend on the length.
     */
    public RowGrouping withOutputsOfTokens() {
        return new RowGrouping(most, window, refusing, true);
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
