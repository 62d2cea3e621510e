package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Computes the usage records of a graph's tensors, and sums of sizes. */
public final class UsageRecords {

    /** The alignment of sizes, so that stacked tensors have aligned offsets, too. */
    public static final long ALIGNMENT_BYTES = 64;

    private UsageRecords() {}

    /**
     * Returns a record of every tensor that a plan may place: an intermediate of known size that an
     * operator uses, and that is neither an input nor an output of the graph. Temporaries live only
     * at their own operator.
     *
     * @throws ArithmeticException if a size overflows when it is aligned
     */
    public static ImmutableList<UsageRecord> of(Graph graph) {
        int count = graph.tensors().size();
        int[] first = new int[count];
        int[] last = new int[count];
        boolean[] used = new boolean[count];
        for (Operator operator : graph.operators()) {
            for (List<Integer> ids :
                    List.of(operator.inputs(), operator.outputs(), operator.temporaries())) {
                for (int id : ids) {
                    first[id] = used[id] ? first[id] : operator.index();
                    last[id] = operator.index();
                    used[id] = true;
                }
            }
        }
        Set<Integer> callers = new HashSet<>(graph.inputs());
        callers.addAll(graph.outputs());
        ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
        for (Tensor tensor : graph.tensors()) {
            int id = tensor.id();
            if (used[id]
                    && tensor.storage() == Storage.INTERMEDIATE
                    && tensor.bytes() > 0
                    && !callers.contains(id)) {
                records.add(new UsageRecord(id, first[id], last[id], alignedBytes(tensor.bytes())));
            }
        }
        return records.build();
    }

    /**
     * Returns the operators that use each tensor (read it, write it, or use it as scratch memory),
     * ascending, by tensor id.
     */
    public static List<List<Integer>> usersOf(Graph graph) {
        List<List<Integer>> users = new ArrayList<>();
        graph.tensors().forEach(tensor -> users.add(new ArrayList<>()));
        for (Operator operator : graph.operators()) {
            addUser(users, operator.inputs(), operator.index());
            addUser(users, operator.outputs(), operator.index());
            addUser(users, operator.temporaries(), operator.index());
        }
        return users;
    }

    private static void addUser(List<List<Integer>> users, List<Integer> tensors, int operator) {
        for (int id : tensors) {
            List<Integer> ofTensor = users.get(id);
            if (ofTensor.isEmpty() || ofTensor.get(ofTensor.size() - 1) != operator) {
                ofTensor.add(operator);
            }
        }
    }

    /**
     * Returns {@code bytes} rounded up to a multiple of {@link #ALIGNMENT_BYTES}.
     *
     * @throws ArithmeticException on overflow
     */
    public static long alignedBytes(long bytes) {
        checkArgument(bytes >= 0, "negative size: %s", bytes);
        return Math.addExact(bytes, ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    }

    /**
     * Returns the total size of the records, without shared memory.
     *
     * @throws ArithmeticException if the sum does not fit into a long
     */
    public static long naiveBytes(Collection<UsageRecord> records) {
        long sum = 0;
        for (UsageRecord record : records) {
            sum = addBytes(sum, record.bytes());
        }
        return sum;
    }

    /**
     * Returns the sum of two sizes.
     *
     * @throws ArithmeticException if it does not fit into a long; the message has the two sizes
     */
    public static long addBytes(long sum, long bytes) {
        try {
            return Math.addExact(sum, bytes);
        } catch (ArithmeticException e) {
            ArithmeticException clear =
                    new ArithmeticException(
                            "sizes add up to more than a long holds: " + sum + " + " + bytes);
            clear.initCause(e);
            throw clear;
        }
    }
}
