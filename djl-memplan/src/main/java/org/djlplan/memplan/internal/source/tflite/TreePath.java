package org.djlplan.memplan.internal.source.tflite;

/**
 * A path in the tree of a model's tables, such as {@code subgraphs[0].tensors[2]}, as nested
 * objects. It is formatted only when a message needs it.
 */
abstract sealed class TreePath {

    static final TreePath ROOT = new Root();

    TreePath field(String name) {
        return new Field(this, name);
    }

    TreePath element(int index) {
        return new Element(this, index);
    }

    private static final class Root extends TreePath {
        @Override
        public String toString() {
            return "";
        }
    }

    private static final class Field extends TreePath {
        private final TreePath table;
        private final String name;

        Field(TreePath table, String name) {
            this.table = table;
            this.name = name;
        }

        @Override
        public String toString() {
            return table == ROOT ? name : table + "." + name;
        }
    }

    private static final class Element extends TreePath {
        private final TreePath vector;
        private final int index;

        Element(TreePath vector, int index) {
            this.vector = vector;
            this.index = index;
        }

        @Override
        public String toString() {
            return vector + "[" + index + "]";
        }
    }
}
