package org.djlplan.memplan.rows;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.djl.ModelHandle;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** Splits the rows of a window into batches of similar lengths within a limit. */
final class RowGroups {

    /** Number of rows of a batch while the memory of batches is unknown. */
    private static final int FEW = 2;

    /** Largest number of rows in a window while the memory of batches is unknown. */
    private static final int SMALL_WINDOW = 16;

    private final Model model;
    private final RowGrouping grouping;
    private final Optional<ModelHandle> handle;

    /** Whether the memory of the last batch was predicted before it ran. */
    private volatile boolean isKnown;

    RowGroups(Model model, RowGrouping grouping) {
        this.model = model;
        this.grouping = grouping;
        handle = ModelHandle.of(model);
        isKnown = grouping.unit() == RowGrouping.Unit.TOKENS;
    }

    /** Returns the number of rows that are grouped at a time. */
    int window() {
        return isKnown ? grouping.window() : Math.min(grouping.window(), SMALL_WINDOW);
    }

    /**
     * Returns the batches. The batch with the longest rows comes first, so that a lack of memory
     * shows at once. The calling thread must have the same number of engine threads as predictions,
     * because the forecast depends on it.
     *
     * @throws RowFailedException if a single row exceeds the limit and is refused
     */
    List<List<PreparedRow>> split(List<PreparedRow> window) {
        List<PreparedRow> byLength = new ArrayList<>(window);
        byLength.sort(Comparator.comparingLong(PreparedRow::length).reversed());
        List<List<PreparedRow>> batches = new ArrayList<>();
        Bound bound = bound();
        int begin = 0;
        while (begin < byLength.size()) {
            check(byLength.get(begin), bound);
            List<PreparedRow> left = byLength.subList(begin, byLength.size());
            int end = begin + Math.max(1, fitting(bound, left, batches.size()));
            batches.add(List.copyOf(byLength.subList(begin, end)));
            begin = end;
        }
        return batches;
    }

    /** The limit in tokens or bytes. */
    private record Bound(boolean isOfTokens, long most) {}

    private Bound bound() {
        return switch (grouping.unit()) {
            case TOKENS -> new Bound(true, grouping.most());
            case BYTES -> new Bound(false, grouping.most());
            case BUDGET -> new Bound(false, ofBudget());
        };
    }

    private long ofBudget() {
        BudgetReport budget =
                PlanReport.of(model)
                        .flatMap(PlanReport::budget)
                        .orElseThrow(
                                () ->
                                        new IllegalStateException(
                                                model.getName()
                                                        + " was loaded without memplan.budget,"
                                                        + " which is to bound its batches"));
        return Math.max(1, (budget.budgetBytes() - budget.leastBudgetBytes()) / 2);
    }

    /** Returns how many of the first rows fit into one batch; the first row is the longest. */
    private int fitting(Bound bound, List<PreparedRow> rows, int batch) {
        if (bound.isOfTokens()) {
            long most = bound.most() / Math.max(1, rows.get(0).length());
            return (int) Math.min(rows.size(), most);
        }
        // Batches of two and of three rows alternate, so that formulas can be fitted to both.
        isKnown = bytes(rows.subList(0, Math.min(rows.size(), FEW))).isPresent();
        if (!isKnown) {
            return Math.min(rows.size(), FEW + batch % 2);
        }
        int fit = 0;
        int tooMany = rows.size() + 1;
        for (int tried = 1; tooMany - fit > 1; ) {
            OptionalLong bytes = bytes(rows.subList(0, tried));
            if (bytes.isPresent() && bytes.getAsLong() <= bound.most()) {
                fit = tried;
            } else {
                tooMany = tried;
            }
            tried = tooMany > rows.size() ? Math.min(2 * fit, rows.size()) : (fit + tooMany) / 2;
        }
        return fit;
    }

    private void check(PreparedRow row, Bound bound) {
        if (!grouping.isRefusing()) {
            return;
        }
        List<PreparedRow> alone = List.of(row);
        OptionalLong needed = bound.isOfTokens() ? OptionalLong.of(tokens(alone)) : bytes(alone);
        if (needed.isPresent() && needed.getAsLong() > bound.most()) {
            throw new RowFailedException(
                    row.number(),
                    1,
                    new InputTooLargeException(
                            String.format(
                                    Locale.ROOT,
                                    "it takes %d %s, and a batch may have %d",
                                    needed.getAsLong(),
                                    bound.isOfTokens() ? "tokens" : "bytes",
                                    bound.most())));
        }
    }

    /** Returns the tokens of a batch, including padding. */
    static long tokens(List<PreparedRow> rows) {
        return rows.size() * rows.stream().mapToLong(PreparedRow::length).max().orElse(0);
    }

    private OptionalLong bytes(List<PreparedRow> rows) {
        long[] longest = PreparedRows.longest(rows);
        NDList inputs = rows.get(0).arrays();
        ImmutableList.Builder<ArrayType> types = ImmutableList.builder();
        for (int i = 0; i < inputs.size(); i++) {
            NDArray input = inputs.get(i);
            List<Long> shape = new ArrayList<>();
            shape.add((long) rows.size());
            shape.addAll(Longs.asList(input.getShape().getShape()));
            if (shape.size() > 1) {
                shape.set(1, longest[i]);
            }
            types.add(new ArrayType(input.getDataType().name().toLowerCase(Locale.ROOT), shape));
        }
        return handle.isPresent() ? handle.get().bytes(types.build()) : OptionalLong.empty();
    }
}
