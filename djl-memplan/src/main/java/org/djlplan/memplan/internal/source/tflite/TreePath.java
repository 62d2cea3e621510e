package org.djlplan.memplan.internal.source.tflite;

import org.jspecify.annotations.Nullable;

/**
 * A path in the tree of a model's tables, such as {@code subgraphs[0].tensors[2]}, as nested
 * objects. It is formatted only when a message needs it.
 *
 * @param above the path of the table or vector; null at the root
 * @param step the name of a field, or the index of an element
 */
record TreePath(@Nullable TreePath above, Object step) {

    static final TreePath ROOT = new TreePath(null, "");

    TreePath field(String name) {
        return new TreePath(this, name);
    }

    TreePath element(int index) {
        return new TreePath(this, index);
    }

    @Override
    public String toString() {
        String before = above == null ? "" : above.toString();
        if (step instanceof Integer) {
            return before + "[" + step + "]";
        }
        return before.isEmpty() ? step.toString() : before + "." + step;
    }
}
