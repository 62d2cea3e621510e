package org.djlplan.delegation.partition;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/**
 * How much there is to do for an operator, in one number: its FLOPs, and as many FLOPs as a core
 * does while the bytes that it reads and writes go by.
 */
public final class Work {

    /** FLOPs per byte; a core moves about half as many bytes as it does useful FLOPs. */
    private static final long PER_BYTE = 2;

    /** Of calling an operator at all: some tenths of a microsecond. */
    private static final long PER_CALL = 1_000;

    private Work() {}

    /** Returns the work of one run of an operator; more than 0. */
    public static long of(Graph graph, Operator operator) {
        long bytes = 0;
        for (List<Integer> ids : List.of(operator.inputs(), operator.outputs())) {
            for (int id : ids) {
                bytes += graph.tensors().get(id).bytes();
            }
        }
        return PER_CALL + Flops.of(graph, operator) + PER_BYTE * bytes;
    }
}
