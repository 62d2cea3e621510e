package org.djlplan.memplan.internal.engine;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.util.PairList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile.Signature;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Names and order of a model's inputs and outputs for its user: those of a signature, or those of
 * the file.
 */
public final class Ports {

    private final ImmutableList<Port> inputs;
    private final ImmutableList<Port> outputs;

    /** Whether names and order are those of the file. */
    private final boolean asInFile;

    /**
     * An input or output.
     *
     * @param name the name for the user
     * @param position the position in the model
     */
    private record Port(String name, int position) {}

    private Ports(List<Port> inputs, List<Port> outputs, boolean asInFile) {
        this.inputs = ImmutableList.copyOf(inputs);
        this.outputs = ImmutableList.copyOf(outputs);
        this.asInFile = asInFile;
    }

    /** Returns names and positions. */
    @Override
    public String toString() {
        return inputs + " " + outputs;
    }

    /** Returns the names and order of the file. */
    static Ports asInFile(List<TensorInfo> inputs, List<TensorInfo> outputs) {
        return new Ports(inOrder(inputs), inOrder(outputs), true);
    }

    private static List<Port> inOrder(List<TensorInfo> tensors) {
        List<Port> ports = new ArrayList<>(tensors.size());
        for (TensorInfo tensor : tensors) {
            ports.add(new Port(tensor.name(), ports.size()));
        }
        return ports;
    }

    /**
     * Returns a signature of a model.
     *
     * @param key its name
     * @throws IllegalArgumentException if the model has no signature with that name
     */
    static Signature signature(String key, TfLiteFile model) {
        return model.signatures().stream()
                .filter(each -> each.key().equals(key))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "signature=" + key + ": " + those(model)));
    }

    /**
     * Returns the names and order of a signature.
     *
     * @param model its model
     * @throws IllegalArgumentException if the signature cannot be used
     */
    static Ports of(Signature signature, TfLiteFile model) {
        String key = signature.key();
        TfLiteSubgraph graph = model.subgraphs().get(signature.subgraph());
        List<Port> inputs = ports(key, signature.inputs(), graph.inputs());
        long named = inputs.stream().map(Port::position).distinct().count();
        checkArgument(
                named == graph.inputs().size() && inputs.size() == named,
                "signature=%s: it names %s of %s inputs",
                key,
                named,
                graph.inputs().size());
        return new Ports(inputs, ports(key, signature.outputs(), graph.outputs()), false);
    }

    private static String those(TfLiteFile model) {
        return "the model has " + model.signatures().stream().map(Signature::key).toList();
    }

    private static List<Port> ports(
            String key, List<Signature.Entry> entries, List<Integer> tensors) {
        ImmutableList.Builder<Port> ports = ImmutableList.builder();
        for (Signature.Entry entry : entries) {
            int position = tensors.indexOf(entry.tensor());
            checkArgument(
                    position >= 0,
                    "signature=%s: %s is no input or output of the model",
                    key,
                    entry.name());
            ports.add(new Port(entry.name(), position));
        }
        return ports.build();
    }

    /** Returns names and shapes of the inputs, from those of the model. */
    public PairList<String, Shape> inputs(PairList<String, Shape> model) {
        return described(inputs, model);
    }

    /** Returns names and shapes of the outputs, from those of the model. */
    public PairList<String, Shape> outputs(PairList<String, Shape> model) {
        return described(outputs, model);
    }

    private static PairList<String, Shape> described(
            List<Port> ports, PairList<String, Shape> model) {
        PairList<String, Shape> description = new PairList<>(ports.size());
        for (Port port : ports) {
            description.add(port.name(), model.valueAt(port.position()));
        }
        return description;
    }

    /**
     * Returns inputs in the model's order. An array with the name of an input is used for that
     * input; the others fill the remaining inputs in order.
     */
    public NDList toModel(NDList list) {
        if (list.size() != inputs.size() || isInOrder(list)) {
            return list;
        }
        NDArray[] given = new NDArray[inputs.size()];
        Deque<NDArray> others = new ArrayDeque<>();
        for (NDArray array : list) {
            int input = inputNamed(array.getName());
            if (input < 0 || given[input] != null) {
                others.add(array);
            } else {
                given[input] = array;
            }
        }
        NDArray[] ordered = new NDArray[given.length];
        for (int i = 0; i < given.length; i++) {
            ordered[inputs.get(i).position()] = given[i] == null ? others.remove() : given[i];
        }
        return new NDList(ordered);
    }

    /** The usual case, which takes almost no time. */
    private boolean isInOrder(NDList list) {
        if (list.size() < 2) {
            return true;
        }
        boolean inOrder = asInFile;
        for (int i = 0; inOrder && i < list.size(); i++) {
            inOrder = list.get(i).getName() == null;
        }
        return inOrder;
    }

    private int inputNamed(String name) {
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the user's outputs from the model's; closes the others. */
    public NDList fromModel(NDList list) {
        if (asInFile) {
            return list;
        }
        NDList results = new NDList(outputs.size());
        BitSet used = new BitSet();
        for (Port port : outputs) {
            NDArray array = list.get(port.position());
            NDArray own = used.get(port.position()) ? array.duplicate() : array;
            used.set(port.position());
            own.setName(port.name());
            results.add(own);
        }
        for (int i = used.nextClearBit(0); i < list.size(); i = used.nextClearBit(i + 1)) {
            list.get(i).close();
        }
        return results;
    }
}
