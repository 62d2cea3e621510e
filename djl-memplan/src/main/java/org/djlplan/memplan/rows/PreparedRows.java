package org.djlplan.memplan.rows;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.translate.Batchifier;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Stacks rows that another translator has pre-processed, and post-processes the outputs with that
 * translator, which must be prepared.
 */
final class PreparedRows<O> implements NoBatchifyTranslator<List<PreparedRow>, List<O>> {

    private static final String LENGTHS = "lengths";
    private static final String ROWS = "rows";

    private final Translator<?, O> translator;
    private final boolean cutting;

    /**
     * @param cutting whether outputs have one value per token
     */
    PreparedRows(Translator<?, O> translator, boolean cutting) {
        this.translator = translator;
        this.cutting = cutting;
    }

    @Override
    public NDList processInput(TranslatorContext context, List<PreparedRow> rows) {
        long[] longest = longest(rows);
        context.setAttachment(ROWS, rows);
        context.setAttachment(LENGTHS, longest);
        NDList[] padded =
                rows.stream()
                        .map(row -> row.padded(longest, context.getNDManager()))
                        .toArray(NDList[]::new);
        NDList stacked = Batchifier.STACK.batchify(padded);
        stacked.attach(context.getNDManager());
        return stacked;
    }

    /** Returns the longest first dimension of each input. */
    static long[] longest(List<PreparedRow> rows) {
        long[] longest = new long[rows.get(0).arrays().size()];
        for (PreparedRow row : rows) {
            for (int i = 0; i < longest.length; i++) {
                NDArray array = row.arrays().get(i);
                if (array.getShape().dimension() > 0) {
                    longest[i] = Math.max(longest[i], array.getShape().get(0));
                }
            }
        }
        return longest;
    }

    @Override
    @SuppressWarnings("unchecked")
    public List<O> processOutput(TranslatorContext context, NDList outputs) throws Exception {
        List<PreparedRow> rows = (List<PreparedRow>) context.getAttachment(ROWS);
        long[] longest = (long[]) context.getAttachment(LENGTHS);
        long padded = Arrays.stream(longest).max().orElse(1);
        NDList[] each = Batchifier.STACK.unbatchify(outputs);
        checkState(
                each.length == rows.size(),
                "the model returned %s outputs for a batch of %s rows",
                each.length,
                rows.size());
        List<O> all = new ArrayList<>();
        for (int i = 0; i < each.length; i++) {
            PreparedRow row = rows.get(i);
            all.add(
                    translator.processOutput(
                            row, cutting ? cut(each[i], padded, row.length()) : each[i]));
        }
        return all;
    }

    private static NDList cut(NDList outputs, long padded, long length) {
        NDList cut = new NDList(outputs.size());
        for (NDArray output : outputs) {
            boolean isOfTokens =
                    output.getShape().dimension() > 0 && output.getShape().get(0) == padded;
            cut.add(isOfTokens ? output.get(new NDIndex(":" + length)) : output);
        }
        return cut;
    }
}
