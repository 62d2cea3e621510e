package org.djlplan.memplan.store;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;

/** What a plan of a graph depends on: all but names and the content of constants. */
public final class GraphStructure {

    private GraphStructure() {}

    /**
     * Returns a hash of a graph's operators and tensors: types, shapes, sizes, and who uses what.
     *
     * @return 64 hexadecimal digits
     */
    public static String hash(Graph graph) {
        Hasher hasher = Hashing.sha256().newHasher();
        hasher.putInt(graph.operators().size());
        for (Operator operator : graph.operators()) {
            text(hasher, operator.type());
            numbers(hasher, operator.inputs());
            numbers(hasher, operator.outputs());
            numbers(hasher, operator.temporaries());
        }
        hasher.putInt(graph.tensors().size());
        for (Tensor tensor : graph.tensors()) {
            text(hasher, tensor.type().name());
            text(hasher, tensor.storage().name());
            numbers(hasher, tensor.shape());
            hasher.putLong(tensor.bytes());
        }
        numbers(hasher, graph.inputs());
        numbers(hasher, graph.outputs());
        return hasher.hash().toString();
    }

    private static void text(Hasher hasher, String text) {
        hasher.putInt(text.length()).putUnencodedChars(text);
    }

    private static void numbers(Hasher hasher, List<Integer> numbers) {
        hasher.putInt(numbers.size());
        numbers.forEach(hasher::putInt);
    }
}
