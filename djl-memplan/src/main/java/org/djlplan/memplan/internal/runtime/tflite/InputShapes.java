package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;

/**
 * The shapes with which a model runs, derived from the values and shapes that the caller passes.
 */
public final class InputShapes {

    private InputShapes() {}

    /**
     * Returns the shapes that a model is run with. Dimensions of 1 may be left out or added,
     * because a batch of one often is. For any other shape than the file's the model is resized. If
     * the model leaves dimensions to its caller, only these and the first one, the batch, may
     * change. Otherwise all may change, except to a shape with as many elements, or with the same
     * dimensions in another order, because that is probably an image with its colours as rows.
     *
     * @param inputs the model's inputs
     * @param inFile their shapes in the file
     * @param signatures their shapes with −1 for each dimension that is left to the caller; an
     *     empty shape if the file does not say
     * @param values the given values
     * @param shapes the given shapes
     * @return {@code inFile} itself if all shapes are the file's
     * @throws IllegalArgumentException if a value cannot be that of its input; the message names
     *     the input, its expected value, and the given one
     */
    public static List<List<Integer>> effective(
            List<TensorInfo> inputs,
            List<List<Integer>> inFile,
            List<List<Integer>> signatures,
            List<ByteBuffer> values,
            List<List<Integer>> shapes) {
        requireCount(values.size(), inputs);
        requireCount(shapes.size(), inputs);
        for (int i = 0; i < values.size(); i++) {
            TensorInfo input = inputs.get(i);
            List<Integer> given = shapes.get(i);
            long bytes = values.get(i).remaining();
            if (input.type() != ElementType.STRING
                    && bytes != elements(input, given) * input.type().bytes()) {
                throw new IllegalArgumentException(
                        wanted(input, signatures.get(i))
                                + bytes
                                + " bytes of shape "
                                + given
                                + " were given");
            }
        }
        return effective(inputs, inFile, signatures, shapes);
    }

    /**
     * Returns the shapes that a model is run with, whatever the values, as {@link #effective(List,
     * List, List, List, List)} does.
     */
    public static List<List<Integer>> effective(
            List<TensorInfo> inputs,
            List<List<Integer>> inFile,
            List<List<Integer>> signatures,
            List<List<Integer>> shapes) {
        boolean asInFile = true;
        List<List<Integer>> effective = new ArrayList<>(shapes.size());
        for (int i = 0; i < shapes.size(); i++) {
            List<Integer> given = shapes.get(i);
            boolean resized = isResized(inputs.get(i), inFile.get(i), signatures.get(i), given);
            effective.add(resized ? given : inFile.get(i));
            asInFile &= !resized;
        }
        return asInFile ? inFile : effective;
    }

    /**
     * Checks the number of inputs.
     *
     * @throws IllegalArgumentException if the model has another number of inputs; the message names
     *     them
     */
    public static void requireCount(int given, List<TensorInfo> inputs) {
        if (given != inputs.size()) {
            StringBuilder message = new StringBuilder();
            message.append(given).append(" inputs were given, the model has ");
            message.append(inputs.size()).append(':');
            for (TensorInfo input : inputs) {
                message.append(' ').append(input.name()).append(' ').append(input.type());
                message.append(input.shape());
            }
            throw new IllegalArgumentException(message.toString());
        }
    }

    private static boolean isResized(
            TensorInfo input, List<Integer> inFile, List<Integer> signature, List<Integer> given) {
        if (given.equals(inFile)) {
            return false;
        }
        boolean sameRank = given.size() == inFile.size();
        boolean dynamic = sameRank && signature.size() == given.size() && signature.contains(-1);
        if (dynamic && differsOnlyWhereLeftOpen(given, signature)) {
            return true;
        }
        if (withoutOnes(given).equals(withoutOnes(inFile))) {
            return false;
        }
        boolean resizable =
                sameRank
                        && !dynamic
                        && elements(input, given) != elements(input, inFile)
                        && !isReordered(given, inFile);
        // An empty shape may also stand for an unknown one.
        if (!resizable && !inFile.isEmpty()) {
            throw new IllegalArgumentException(
                    wanted(input, signature) + "a value of shape " + given + " was given");
        }
        return true;
    }

    private static boolean differsOnlyWhereLeftOpen(List<Integer> given, List<Integer> signature) {
        for (int i = 1; i < given.size(); i++) {
            if (signature.get(i) != -1 && !signature.get(i).equals(given.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the dimensions after the batch are the file's in another order. */
    private static boolean isReordered(List<Integer> given, List<Integer> inFile) {
        List<Integer> one = given.subList(1, given.size());
        List<Integer> other = inFile.subList(1, inFile.size());
        return !one.equals(other)
                && one.stream().sorted().toList().equals(other.stream().sorted().toList());
    }

    private static List<Integer> withoutOnes(List<Integer> shape) {
        return shape.stream().filter(dimension -> dimension != 1).toList();
    }

    private static String wanted(TensorInfo input, List<Integer> signature) {
        List<Integer> shape = signature.contains(-1) ? signature : input.shape();
        return "input " + input.name() + " is " + input.type() + " of shape " + shape + ": ";
    }

    private static long elements(TensorInfo input, List<Integer> shape) {
        long elements = 1;
        for (int dimension : shape) {
            checkArgument(
                    dimension > 0, "input %s: a value of shape %s was given", input.name(), shape);
            elements = Math.multiplyExact(elements, dimension);
        }
        return elements;
    }
}
