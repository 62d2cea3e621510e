package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * Selects the steps that a delegate runs: those that save the most time within a number of bytes.
 *
 * <p>A delegate keeps packed copies of its steps' weights, of about the same size. A run of
 * consecutive steps is one delegate kernel, in which XNNPACK, in version 2.6 of the engine, gives
 * every tensor separate memory. Tensors between delegate kernels and CPU kernels share places in
 * the engine's arena. So it may be better to leave a cheap step to its CPU kernel.
 *
 * <p>This is a knapsack over a chain, solved by dynamic programming. For every step and every
 * number of units of bytes, it computes the most time that can be saved in each of two cases: the
 * previous step is selected, or it is not. The result is exact except for the sizes, which are
 * rounded to {@value #UNITS} units; the engine's shared arena is counted afterwards. The algorithm
 * takes steps × {@value #UNITS} operations.
 */
public final class KernelSelection {

    /** Time of a step in a delegate relative to its CPU kernel, for convolutions. */
    private static final double SHARE_OF_TIME = 0.5;

    /** The share for other operators, which mostly wait for memory. */
    private static final double SHARE_OF_OTHERS = 0.9;

    private static final int UNITS = 1024;

    /** Time that an additional run must save, to favour few large runs. */
    private static final long NANOS_PER_RUN = 50_000;

    /** Denominator of the fraction by which padding enlarges packed rows. */
    private static final int PADDING = 32;

    private static final int POINTER_BYTES = 8;
    private static final Set<String> CONVOLUTIONS = Set.of("CONV_2D", "DEPTHWISE_CONV_2D");

    private final Graph graph;
    private final long[] nanos;
    private final Set<Integer> delegable;
    private final int[] lastReaders;
    private final long[] stepBytes;

    /** Bytes of a step's output, which cost memory if the next step belongs to the same run. */
    private final long[] outputBytes;

    /**
     * Steps for a delegate.
     *
     * @param steps in ascending order
     * @param weightBytes packed weights of the steps
     * @param bytes total memory, including tensors inside the delegate's kernels and at their
     *     borders
     */
    public record Selection(SortedSet<Integer> steps, long weightBytes, long bytes) {

        public Selection {
            steps = ImmutableSortedSet.copyOf(steps);
            checkArgument(weightBytes >= 0 && bytes >= weightBytes, "%s bytes", bytes);
        }
    }

    /**
     * @param graph one step for each operator, in execution order
     * @param nanos of each step in its CPU kernel
     * @param delegable steps that the delegate supports
     */
    public KernelSelection(Graph graph, long[] nanos, Set<Integer> delegable) {
        checkArgument(nanos.length == graph.operators().size(), "%s steps", nanos.length);
        this.graph = graph;
        this.nanos = nanos.clone();
        this.delegable = Set.copyOf(delegable);
        lastReaders = lastReaders(graph);
        stepBytes = new long[nanos.length];
        outputBytes = new long[nanos.length];
        Set<Integer> seen = new HashSet<>();
        for (Operator operator : graph.operators()) {
            outputBytes[operator.index()] =
                    operator.outputs().stream()
                            .mapToLong(id -> graph.tensors().get(id).bytes())
                            .sum();
            if (delegable.contains(operator.index())) {
                long weights = weightBytes(operator, seen);
                stepBytes[operator.index()] =
                        weights + weights / PADDING + indirectionBytes(operator);
            }
        }
    }

    /** The last step that reads a tensor; after all steps for the graph's outputs. */
    private static int[] lastReaders(Graph graph) {
        int[] last = new int[graph.tensors().size()];
        for (Operator operator : graph.operators()) {
            operator.inputs().forEach(id -> last[id] = operator.index());
        }
        graph.outputs().forEach(id -> last[id] = graph.operators().size());
        return last;
    }

    /** Returns the time of a step in a delegate relative to its CPU kernel. */
    double shareOfTime(int step) {
        String type = graph.operators().get(step).type();
        return CONVOLUTIONS.contains(type) ? SHARE_OF_TIME : SHARE_OF_OTHERS;
    }

    private long weightBytes(Operator operator, Set<Integer> seen) {
        return operator.inputs().stream()
                .map(id -> graph.tensors().get(id))
                .filter(tensor -> tensor.storage() == Storage.CONSTANT && seen.add(tensor.id()))
                .mapToLong(Tensor::bytes)
                .sum();
    }

    /** A convolution keeps pointers to the inputs of each output element. */
    private long indirectionBytes(Operator operator) {
        if (!CONVOLUTIONS.contains(operator.type()) || operator.inputs().size() < 2) {
            return 0;
        }
        List<Integer> filter = graph.tensors().get(operator.inputs().get(1)).shape();
        List<Integer> output = graph.tensors().get(operator.outputs().get(0)).shape();
        long window = filter.size() == 4 ? (long) filter.get(1) * filter.get(2) : 1;
        return window == 1 || output.size() != 4
                ? 0
                : window * output.get(1) * output.get(2) * POINTER_BYTES;
    }

    /** Returns whether any step can be selected. */
    public boolean possible() {
        return !delegable.isEmpty();
    }

    /**
     * Returns the memory of all delegable steps beside the engine's arena, which no selection
     * exceeds.
     */
    public long mostBytes() {
        return delegable.stream().mapToLong(step -> stepBytes[step] + outputBytes[step]).sum();
    }

    /**
     * Returns the steps that save the most time in about a number of bytes beside the engine's
     * arena; on a tie, those that take the fewest bytes. Empty if no selection saves time.
     */
    public Selection within(long bytes) {
        return selection(new Knapsack(Math.max(1, bytes)).steps());
    }

    /**
     * Returns steps as a selection.
     *
     * @throws IllegalArgumentException if one of them cannot be delegated
     */
    public Selection selection(SortedSet<Integer> steps) {
        checkArgument(delegable.containsAll(steps), "%s cannot be delegated", steps);
        long weights = steps.stream().mapToLong(step -> stepBytes[step]).sum();
        long inside = 0;
        long[] changes = new long[nanos.length + 2];
        Set<Integer> seen = new HashSet<>();
        for (int step : steps) {
            Operator operator = graph.operators().get(step);
            int end = endOfRun(steps, step);
            for (int id : operator.outputs()) {
                seen.add(id);
                long bytes = graph.tensors().get(id).bytes();
                if (lastReaders[id] <= end) {
                    inside += bytes;
                } else {
                    occupy(changes, step, lastReaders[id], bytes);
                }
            }
            for (int id : operator.inputs()) {
                Tensor tensor = graph.tensors().get(id);
                if (tensor.storage() != Storage.CONSTANT && seen.add(id)) {
                    // Written by a CPU kernel, or by the caller.
                    occupy(changes, Math.max(0, step - 1), lastReaders[id], tensor.bytes());
                }
            }
        }
        return new Selection(steps, weights, weights + inside + most(changes));
    }

    private static int endOfRun(SortedSet<Integer> steps, int first) {
        int end = first;
        while (steps.contains(end + 1)) {
            end++;
        }
        return end;
    }

    private static void occupy(long[] changes, int first, int last, long bytes) {
        changes[first] += bytes;
        changes[last + 1] -= bytes;
    }

    private static long most(long[] changes) {
        long most = 0;
        long sum = 0;
        for (long change : changes) {
            sum += change;
            most = Math.max(most, sum);
        }
        return most;
    }

    /** A partial solution with its predecessors. */
    private final class Knapsack {

        private static final long IMPOSSIBLE = Long.MIN_VALUE / 2;

        private final long unitBytes;
        private final byte[][][] cameFrom = new byte[nanos.length][2][];

        /** The most nanoseconds saved, by whether the last step is selected, then by units. */
        private long[][] saved = new long[2][UNITS + 1];

        private long[][] next = new long[2][UNITS + 1];

        Knapsack(long bytes) {
            unitBytes = (bytes + UNITS - 1) / UNITS;
            Arrays.fill(saved[1], IMPOSSIBLE);
        }

        SortedSet<Integer> steps() {
            for (int step = 0; step < nanos.length; step++) {
                take(step);
            }
            return steps(best(saved[1]) > best(saved[0]) ? 1 : 0);
        }

        private static long best(long[] values) {
            return Arrays.stream(values).max().orElse(IMPOSSIBLE);
        }

        private void take(int step) {
            byte[] left = new byte[UNITS + 1];
            byte[] selected = new byte[UNITS + 1];
            int units = units(stepBytes[step]);
            int more = moreUnits(step);
            long gain = Math.round(nanos[step] * (1 - shareOfTime(step)));
            for (int used = 0; used <= UNITS; used++) {
                left[used] = (byte) (saved[1][used] > saved[0][used] ? 1 : 0);
                next[0][used] = saved[left[used]][used];
                next[1][used] = IMPOSSIBLE;
                if (!delegable.contains(step)) {
                    continue;
                }
                long begun =
                        used >= units ? saved[0][used - units] + gain - NANOS_PER_RUN : IMPOSSIBLE;
                long continued = used >= more ? saved[1][used - more] + gain : IMPOSSIBLE;
                selected[used] = (byte) (continued >= begun ? 1 : 0);
                next[1][used] = Math.max(continued, begun);
            }
            cameFrom[step][0] = left;
            cameFrom[step][1] = selected;
            long[][] free = saved;
            saved = next;
            next = free;
        }

        private int units(long bytes) {
            return (int) Math.min(UNITS + 1L, (bytes + unitBytes / 2) / unitBytes);
        }

        /**
         * Returns the memory of a step that continues a run, including its inputs, which now lie
         * inside the run.
         */
        private int moreUnits(int step) {
            return units(stepBytes[step] + (step > 0 ? outputBytes[step - 1] : 0));
        }

        private SortedSet<Integer> steps(int lastState) {
            int state = lastState;
            int used = 0;
            while (saved[state][used] < best(saved[state])) {
                used++;
            }
            SortedSet<Integer> steps = new TreeSet<>();
            for (int step = nanos.length - 1; step >= 0; step--) {
                int before = cameFrom[step][state][used];
                if (state == 1) {
                    steps.add(step);
                    used -= before == 0 ? units(stepBytes[step]) : moreUnits(step);
                }
                state = before;
            }
            return steps;
        }
    }
}
