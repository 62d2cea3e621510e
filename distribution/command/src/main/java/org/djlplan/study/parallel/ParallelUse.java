package org.djlplan.study.parallel;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.BitSet;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.AliasAnalysis.Precedence;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The use of a graph's tensors by an engine that runs operators in any order that their data
 * dependencies allow, with independent branches at once. A plan for one serial order would add
 * dependencies: a branch would have to wait until another branch no longer uses its memory.
 *
 * <p>Two tensors may share memory only if the graph orders them: every operator that uses the first
 * ends before any operator that uses the second begins. Only data dependencies count; for an engine
 * that preserves more order (of state, for example) the plan is valid but possibly larger than
 * necessary.
 */
public final class ParallelUse {

    /** The largest number of tensors to be planned. */
    public static final int MOST_TENSORS = 16_384;

    /** The largest number of operators: 32 MB of bit sets. */
    static final int MOST_OPERATORS = 16_384;

    /**
     * The order by data dependencies: an operator begins after all operators that produce its
     * inputs, and all operators before these, have ended.
     */
    private static final class DataFlow implements Precedence {

        private final BitSet[] ancestors;

        /**
         * Takes O(V·E/64) time for V operators and E dependencies, and V²/8 bytes.
         *
         * @throws IllegalArgumentException if there are more than {@link #MOST_OPERATORS}
         */
        DataFlow(Graph graph) {
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

    private final Graph graph;
    private final DataFlow order;
    private final ImmutableList<UsageRecord> records;

    private ParallelUse(Graph graph) {
        this.graph = graph;
        records = UsageRecords.of(graph);
        checkArgument(
                records.size() <= MOST_TENSORS,
                "%s tensors; the conflicts of at most %s can be worked out",
                records.size(),
                MOST_TENSORS);
        order = new DataFlow(graph);
    }

    /**
     * Computes which operators of {@code graph} wait for which, as a transitive closure in bit
     * sets: O(V·E/64) time and V²/8 bytes for V operators and E data dependencies.
     *
     * @throws IllegalArgumentException if there are more than {@link #MOST_TENSORS} tensors to plan
     *     or 16,384 operators
     */
    public static ParallelUse of(Graph graph) {
        return new ParallelUse(graph);
    }

    /** Returns the problem without aliases. */
    public PlanningProblem problem() {
        return new PlanningProblem(records).withConflicts(conflicts());
    }

    /** Returns the problem with {@link #aliasClasses()}. */
    public PlanningProblem aliasedProblem() {
        return new PlanningProblem(records, aliasClasses()).withConflicts(conflicts());
    }

    /**
     * Returns the pairs of tensors that only the serial order separates, of those that have a usage
     * record: O(T²) steps and T²/8 bytes for T tensors.
     */
    public Conflicts conflicts() {
        List<List<Integer>> users = UsageRecords.usersOf(graph);
        int[][] lastUsers = new int[users.size()][];
        for (UsageRecord record : records) {
            lastUsers[record.tensor()] = order.last(users.get(record.tensor()));
        }
        Conflicts.Builder conflicts = new Conflicts.Builder();
        for (UsageRecord later : records) {
            BitSet before = order.precedingAll(users.get(later.tensor()));
            for (UsageRecord earlier : records) {
                if (earlier.last() < later.first()
                        && !containsAll(before, lastUsers[earlier.tensor()])) {
                    conflicts.add(earlier.tensor(), later.tensor());
                }
            }
        }
        return conflicts.build();
    }

    private static boolean containsAll(BitSet set, int[] members) {
        for (int member : members) {
            if (!set.get(member)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the alias classes that are valid in any order that the graph allows: an operator
     * overwrites an input only if data dependencies order all other uses of the class before it;
     * the serial order alone is not enough. Each class is sorted by tensor id, and classes are
     * sorted by smallest id.
     */
    public ImmutableList<ImmutableList<Integer>> aliasClasses() {
        return AliasAnalysis.aliasClasses(graph, operator -> true, order);
    }
}
