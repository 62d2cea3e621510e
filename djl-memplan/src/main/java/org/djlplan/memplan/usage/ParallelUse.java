package org.djlplan.memplan.usage;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.BitSet;
import java.util.List;
import org.djlplan.memplan.graph.Graph;

/**
 * How an engine uses a graph's tensors that runs operators in any order their data dependencies
 * allow, independent branches at once. A plan made for one serial order would add dependencies
 * there: a branch would have to wait until another one has left its memory.
 *
 * <p>Two tensors may share memory only if the graph orders them: every operator that touches the
 * one ends before any that touches the other begins. Only data dependencies count; an engine that
 * keeps more order (of state, say) gets a plan that is valid still, if larger than need be.
 */
public final class ParallelUse {

    /** The largest number of tensors to be planned. */
    public static final int MOST_TENSORS = 16_384;

    private final Graph graph;
    private final Precedence.ByDataFlow order;
    private final ImmutableList<UsageRecord> records;

    private ParallelUse(Graph graph) {
        this.graph = graph;
        records = UsageRecords.of(graph);
        checkArgument(
                records.size() <= MOST_TENSORS,
                "%s tensors; the conflicts of at most %s can be worked out",
                records.size(),
                MOST_TENSORS);
        order = new Precedence.ByDataFlow(graph);
    }

    /**
     * Works out which operators of {@code graph} wait for which, the transitive closure in bit
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
        List<List<Integer>> users = TensorUsers.of(graph);
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
     * Returns the alias classes that hold in any order the graph allows: an operator writes over an
     * input only where all other uses of the class have ended by data dependencies, not merely by
     * the serial order. Each sorted by tensor id, by smallest id.
     */
    public ImmutableList<ImmutableList<Integer>> aliasClasses() {
        return AliasAnalysis.aliasClasses(graph, operator -> true, order);
    }
}
