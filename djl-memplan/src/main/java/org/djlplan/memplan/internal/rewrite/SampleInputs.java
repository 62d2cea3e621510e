package org.djlplan.memplan.internal.rewrite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.Buffers;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * A copy of the inputs of one prediction. Candidates are measured with real inputs, because the
 * numbers of tokens, for example, cannot be random.
 *
 * @param types of the arrays
 * @param names of the arrays, by which DJL makes tuples, lists and dictionaries of some; empty for
 *     none
 * @param values of the arrays, in native byte order
 */
public record SampleInputs(List<ArrayType> types, List<String> names, List<ByteBuffer> values) {

    /** Images have their height and width behind the batch and the channels. */
    private static final int IMAGE_RANK = 4;

    public SampleInputs {
        types = ImmutableList.copyOf(types);
        names = ImmutableList.copyOf(names);
        values = ImmutableList.copyOf(values);
        checkArgument(
                types.size() == names.size() && types.size() == values.size(),
                "%s types, %s names, %s values",
                types.size(),
                names.size(),
                values.size());
    }

    /** Copies the inputs of a prediction. */
    public static SampleInputs copyOf(List<ArrayType> types, NDList inputs) {
        List<String> names = new ArrayList<>();
        List<ByteBuffer> values = new ArrayList<>();
        for (NDArray input : inputs) {
            names.add(input.getName() == null ? "" : input.getName());
            values.add(Buffers.copy(input.toByteBuffer()));
        }
        return new SampleInputs(types, names, values);
    }

    /** Returns the size of all values. */
    public long bytes() {
        return values.stream().mapToLong(ByteBuffer::remaining).sum();
    }

    /** Returns new arrays with these values. */
    public NDList create(NDManager manager) {
        return create(manager, values);
    }

    /** Returns new arrays with other values of the same types. */
    public NDList create(NDManager manager, List<ByteBuffer> others) {
        NDList arrays = new NDList(types.size());
        for (int i = 0; i < types.size(); i++) {
            NDArray array =
                    manager.create(
                            others.get(i).duplicate().order(ByteOrder.nativeOrder()),
                            new Shape(Longs.toArray(types.get(i).shape())),
                            DataType.valueOf(types.get(i).dataType().toUpperCase(Locale.ROOT)));
            if (!names.get(i).isEmpty()) {
                array.setName(names.get(i));
            }
            arrays.add(array);
        }
        return arrays;
    }

    /** Returns a graph with these inputs and an output of floats, and no operators. */
    Graph graph() {
        List<Tensor> tensors = new ArrayList<>();
        for (int i = 0; i <= types.size(); i++) {
            boolean input = i < types.size();
            tensors.add(
                    new Tensor(
                            i,
                            "",
                            input ? elementType(types.get(i).dataType()) : ElementType.FLOAT32,
                            input ? Ints.asList(Ints.toArray(types.get(i).shape())) : List.of(),
                            input ? values.get(i).remaining() : ElementType.FLOAT32.bytes(),
                            Storage.ENGINE,
                            Optional.empty()));
        }
        return new Graph(
                "",
                List.of(),
                tensors,
                IntStream.range(0, types.size()).boxed().toList(),
                List.of(types.size()));
    }

    static ElementType elementType(String dataType) {
        if (dataType.equals("boolean")) {
            return ElementType.BOOL;
        }
        try {
            return ElementType.valueOf(dataType.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            return ElementType.OPAQUE;
        }
    }

    /** Returns these inputs with one more element in the batch; empty if they have no batch. */
    public Optional<SampleInputs> ofOtherBatch() {
        long batch = types.get(0).shape().isEmpty() ? 0 : types.get(0).shape().get(0);
        return batch == 0 ? Optional.empty() : resized(ImmutableList.of(0), batch, batch + 1);
    }

    /**
     * Returns these inputs with three quarters of their length: of the height and width of images,
     * otherwise of the second dimension. Empty if they have none.
     */
    public Optional<SampleInputs> ofOtherLength() {
        int rank = types.get(0).shape().size();
        if (rank < 2) {
            return Optional.empty();
        }
        List<Integer> dimensions =
                rank == IMAGE_RANK ? ImmutableList.of(2, 3) : ImmutableList.of(1);
        Optional<SampleInputs> other = Optional.of(this);
        for (int dimension : dimensions) {
            long length = types.get(0).shape().get(dimension);
            long shorter = length == 1 ? 2 : length - length / 4;
            other = other.flatMap(s -> s.resized(List.of(dimension), length, shorter));
        }
        return other;
    }

    /**
     * Returns the first image without its batch, which some models take as well. Empty if the first
     * input is no batch of images.
     */
    public Optional<SampleInputs> ofOneImage() {
        if (types.get(0).shape().size() != IMAGE_RANK) {
            return Optional.empty();
        }
        return resized(ImmutableList.of(0), types.get(0).shape().get(0), 1)
                .map(
                        one ->
                                new SampleInputs(
                                        one.types.stream().map(SampleInputs::unbatched).toList(),
                                        names,
                                        one.values));
    }

    private static ArrayType unbatched(ArrayType type) {
        boolean image = type.shape().size() == IMAGE_RANK && type.shape().get(0) == 1;
        return image ? new ArrayType(type.dataType(), type.shape().subList(1, IMAGE_RANK)) : type;
    }

    /** Resizes dimensions of each array that have the given length. */
    private Optional<SampleInputs> resized(List<Integer> dimensions, long from, long to) {
        if (from == 0) {
            return Optional.empty();
        }
        List<ArrayType> newTypes = new ArrayList<>(types);
        List<ByteBuffer> newValues = new ArrayList<>(values);
        for (int i = 0; i < types.size(); i++) {
            for (int dimension : dimensions) {
                List<Long> shape = newTypes.get(i).shape();
                if (dimension < shape.size() && shape.get(dimension) == from) {
                    newValues.set(i, resized(newValues.get(i), shape, dimension, (int) to));
                    List<Long> newShape = new ArrayList<>(shape);
                    newShape.set(dimension, to);
                    newTypes.set(i, new ArrayType(types.get(i).dataType(), newShape));
                }
            }
        }
        return Optional.of(new SampleInputs(newTypes, names, newValues));
    }

    /** Cuts slices of a dimension off, or repeats its first slices at the end. */
    private static ByteBuffer resized(ByteBuffer values, List<Long> shape, int dimension, int to) {
        int from = Math.toIntExact(shape.get(dimension));
        long outer = product(shape.subList(0, dimension));
        if (outer == 0 || values.remaining() == 0) {
            return values;
        }
        int slice = Math.toIntExact(values.remaining() / outer / from);
        ByteBuffer resized = ByteBuffer.allocate(Math.toIntExact(outer * to * slice));
        for (int i = 0; i < outer; i++) {
            for (int j = 0; j < to; j++) {
                resized.put(values.slice((i * from + j % from) * slice, slice));
            }
        }
        return resized.flip();
    }

    private static long product(List<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).reduce(1, Math::multiplyExact);
    }

    /** Returns no values, because they are the user's. */
    @Override
    public String toString() {
        return types.toString();
    }

    /** The inputs of one prediction, and the number of predictions with the same shapes. */
    public record Frequent(SampleInputs inputs, long predictions) {

        public Frequent {
            checkArgument(predictions > 0, "predictions: %s", predictions);
        }
    }

    /** Returns the inputs with the most predictions, at most so many. */
    static List<Frequent> mostFrequent(List<Frequent> all, int most) {
        List<Frequent> sorted = new ArrayList<>(all);
        sorted.sort(Collections.reverseOrder((a, b) -> Long.compare(a.predictions, b.predictions)));
        return ImmutableList.copyOf(sorted.subList(0, Math.min(most, sorted.size())));
    }
}
