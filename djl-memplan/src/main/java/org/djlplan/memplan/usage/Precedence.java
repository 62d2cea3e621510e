package org.djlplan.memplan.usage;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.BitSet;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;

/** Which operators of a graph surely have ended before another one begins. */
interface Precedence {

    /** One operator after another, in execution order. */
    Precedence SERIAL = (operator, other) -> operator < other;

    /** Returns whether {@code operator} ends before {@code other} begins; both by index. */
    boolean precedes(int operator, int other);

    /**
     * The order by data dependencies: an operator begins when those have ended whose results it
     * reads, and all that these waited for.
     */
    final class ByDataFlow implements Precedence {

        /** What {@link ByDataFlow} admits: 32 MB of bit sets. */
        static final int MOST_OPERATORS = 16_384;

        private final BitSet[] ancestors;

        /**
         * Takes O(V·E/64) time for V operators and E dependencies, and V²/8 bytes.
         *
         * @throws IllegalArgumentException if there are more than {@link #MOST_OPERATORS}
         */
        ByDataFlow(Graph graph) {
            List<Operator> operators = graph.operators();
            checkArgument(
                    operators.size() <= MOST_OPERATORS,
                    "%s operators; the order of at most %s can be worked out",
                    operators.size(),
                    MOST_OPERATORS);
            ancestors = new BitSet[operators.size()];
            BitSet[] writers = new BitSet[graph.tensors().size()];
            for (Operator operator : operators) {
                BitSet before = new BitSet();
                for (int id : operator.inputs()) {
                    if (writers[id] != null) {
                        writers[id].stream()
                                .filter(writer -> !before.get(writer))
                                .forEach(
                                        writer -> {
                                            before.or(ancestors[writer]);
                                            before.set(writer);
                                        });
                    }
                }
                ancestors[operator.index()] = before;
                for (int id : operator.outputs()) {
                    if (graph.tensors().get(id).storage() != Storage.CONSTANT) {
                        writers[id] = writers[id] == null ? new BitSet() : writers[id];
                        writers[id].set(operator.index());
                    }
                }
            }
        }

        @Override
        public boolean precedes(int operator, int other) {
            return ancestors[other].get(operator);
        }

        /** Returns the operators that precede all of {@code others}, at least one. */
        BitSet precedingAll(List<Integer> others) {
            BitSet common = (BitSet) ancestors[others.get(0)].clone();
            others.forEach(other -> common.and(ancestors[other]));
            return common;
        }

        /** Returns those of {@code operators} that precede no other of them. */
        int[] last(List<Integer> operators) {
            BitSet waitedFor = new BitSet();
            operators.forEach(operator -> waitedFor.or(ancestors[operator]));
            return operators.stream()
                    .mapToInt(Integer::intValue)
                    .filter(operator -> !waitedFor.get(operator))
                    .toArray();
        }
    }
}
