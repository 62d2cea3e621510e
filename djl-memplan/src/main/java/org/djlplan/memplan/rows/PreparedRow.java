package org.djlplan.memplan.rows;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Translator;
import org.djlplan.memplan.internal.djl.PartContext;
import org.djlplan.memplan.internal.djl.TokenGroups;

/** A pre-processed row, and the data that its translator keeps for post-processing. */
final class PreparedRow extends PartContext {

    private final long number;
    private NDList arrays = new NDList();

    /**
     * @param number of the row; the iterator's first row is 0
     * @param predictorManager manager of arrays that outlive the row
     */
    PreparedRow(long number, Model model, NDManager predictorManager) {
        super(model, model.getBlock(), predictorManager);
        this.number = number;
    }

    /**
     * Pre-processes the row. Arrays of other managers stay with them, because the translator may
     * return such an array, for example a constant mask, for each row.
     */
    <I> void process(Translator<I, ?> translator, I input) throws Exception {
        arrays = translator.processInput(this, input);
    }

    long number() {
        return number;
    }

    NDList arrays() {
        return arrays;
    }

    /** Returns the number of tokens of the row: the longest first dimension of its inputs. */
    long length() {
        return TokenGroups.length(arrays);
    }

    /**
     * Returns the inputs padded with zeros, as masks require, to the longest of a batch.
     *
     * @param longest longest first dimension of each input
     * @param in manager of the padded arrays
     */
    NDList padded(long[] longest, NDManager in) {
        NDList list = new NDList(arrays.size());
        for (int i = 0; i < arrays.size(); i++) {
            NDArray array = arrays.get(i);
            if (array.getShape().dimension() == 0 || array.getShape().get(0) == longest[i]) {
                list.add(array);
                continue;
            }
            long[] rest = array.getShape().getShape().clone();
            rest[0] = longest[i] - rest[0];
            NDArray zeros = in.zeros(new Shape(rest), array.getDataType());
            NDArray whole = array.concat(zeros, 0);
            whole.attach(in);
            list.add(whole);
        }
        return list;
    }
}
