package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Builds a small model of any element type, operator by operator. It can have parts that a builder
 * of plain networks does not make: variables, control flow, sizes known only at run time, and
 * custom operators. Tensors are named by the numbers that the methods return. A sketch is one graph
 * of a file; the graph that is begun first is the main graph.
 */
public final class ModelSketch {

    /** Stands for an optional input that an operator does not have. */
    public static final int ABSENT = TfLiteOperator.ABSENT;

    /** The element types in the order of their numbers in TensorFlow's schema. */
    private static final ImmutableList<ElementType> TYPES =
            ImmutableList.of(
                    ElementType.FLOAT32,
                    ElementType.FLOAT16,
                    ElementType.INT32,
                    ElementType.UINT8,
                    ElementType.INT64,
                    ElementType.STRING,
                    ElementType.BOOL,
                    ElementType.INT16,
                    ElementType.COMPLEX64,
                    ElementType.INT8,
                    ElementType.FLOAT64,
                    ElementType.COMPLEX128,
                    ElementType.UINT64,
                    ElementType.OPAQUE,
                    ElementType.OPAQUE,
                    ElementType.UINT32,
                    ElementType.UINT16);

    private final String name;
    private final List<TfLiteTensor> tensors = new ArrayList<>();
    private final List<TfLiteOperator> operators = new ArrayList<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    // The graphs of the file, which all its sketches share.
    private final List<ModelSketch> graphs;
    private final List<TfLiteBytes> buffers;
    private final Map<TfLiteOperatorCode, Integer> codes;
    private final List<TfLiteFile.Signature> signatures;

    /** Begins a file with its first graph, which is the model. */
    public ModelSketch() {
        name = "main";
        graphs = new ArrayList<>();
        buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
        codes = new LinkedHashMap<>();
        signatures = new ArrayList<>();
        graphs.add(this);
    }

    private ModelSketch(ModelSketch main, String name) {
        this.name = name;
        graphs = main.graphs;
        buffers = main.buffers;
        codes = main.codes;
        signatures = main.signatures;
        graphs.add(this);
    }

    /** Begins the next graph of the same file. */
    public ModelSketch subgraph(String next) {
        return new ModelSketch(this, next);
    }

    /**
     * The type and quantization of a tensor.
     *
     * @param scale maps integers to real values, together with {@code zeroPoint}; 0 if the tensor
     *     is not quantized
     */
    public record Form(ElementType type, List<Integer> shape, float scale, long zeroPoint) {

        public Form {
            shape = ImmutableList.copyOf(shape);
        }

        /** Returns a form without quantization. */
        public static Form of(ElementType type, int... shape) {
            return new Form(type, Ints.asList(shape), 0, 0);
        }

        /** Returns this form with another shape. */
        public Form shaped(List<Integer> other) {
            return new Form(type, other, scale, zeroPoint);
        }

        /** Returns this form with another quantization. */
        public Form scaled(float otherScale, long otherZeroPoint) {
            return new Form(type, shape, otherScale, otherZeroPoint);
        }

        /** Returns the size in bytes. */
        public int bytes() {
            return shape.stream().reduce(type.bytes(), Math::multiplyExact);
        }
    }

    private int add(Form form, int buffer, boolean variable) {
        Optional<TfLiteTensor.Quantization> quantization =
                form.scale() == 0
                        ? Optional.empty()
                        : Optional.of(
                                quantization(List.of(form.scale()), List.of(form.zeroPoint()), 0));
        return add(form, quantization, buffer, variable);
    }

    private static TfLiteTensor.Quantization quantization(
            List<Float> scales, List<Long> zeroPoints, int dimension) {
        return new TfLiteTensor.Quantization(
                List.of(), List.of(), scales, zeroPoints, Optional.empty(), dimension);
    }

    private int add(
            Form form,
            Optional<TfLiteTensor.Quantization> quantization,
            int buffer,
            boolean variable) {
        tensors.add(
                new TfLiteTensor(
                        form.shape(),
                        List.of(),
                        TYPES.indexOf(form.type()),
                        buffer,
                        name + tensors.size(),
                        quantization,
                        variable,
                        Optional.empty(),
                        false));
        return tensors.size() - 1;
    }

    /** Adds an input of the graph. */
    public int input(Form form) {
        int id = tensor(form);
        inputs.add(id);
        return id;
    }

    /** Adds an input that is not quantized. */
    public int input(ElementType type, int... shape) {
        return input(Form.of(type, shape));
    }

    /** Leaves dimensions of a tensor to the caller: −1 in its signature. */
    public void leaveOpen(int tensor, Integer... signature) {
        TfLiteTensor was = tensors.get(tensor);
        tensors.set(
                tensor,
                new TfLiteTensor(
                        was.shape(),
                        List.of(signature),
                        was.typeCode(),
                        was.buffer(),
                        was.name(),
                        was.quantization(),
                        was.isVariable(),
                        was.sparsity(),
                        was.hasRank()));
    }

    /** Adds a tensor without content. */
    public int tensor(Form form) {
        return add(form, 0, false);
    }

    /** Adds a tensor without content that is not quantized. */
    public int tensor(ElementType type, int... shape) {
        return tensor(Form.of(type, shape));
    }

    /**
     * Adds an input of integers with any scales, valid or not, and the same number of zero points.
     */
    public int input(Form form, List<Float> scales) {
        int id = tensor(form, scales);
        inputs.add(id);
        return id;
    }

    /**
     * Adds a tensor of integers with any scales, valid or not, and the same number of zero points.
     */
    public int tensor(Form form, List<Float> scales) {
        List<Long> zeroPoints = Collections.nCopies(scales.size(), 0L);
        return add(form, Optional.of(quantization(scales, zeroPoints, 0)), 0, false);
    }

    /** Adds a tensor of floats that keeps its content from one prediction to the next. */
    public int state(int... shape) {
        return add(Form.of(ElementType.FLOAT32, shape), 0, true);
    }

    /** Adds a constant. */
    public int constant(Form form, ByteBuffer content) {
        buffers.add(TfLiteBytes.of(content));
        return add(form, buffers.size() - 1, false);
    }

    /**
     * Adds a constant of integers with a scale for each index of a dimension, or one for all; its
     * zero points are 0.
     */
    public int constant(Form form, List<Float> scales, int dimension, ByteBuffer content) {
        buffers.add(TfLiteBytes.of(content));
        List<Long> zeroPoints = Collections.nCopies(scales.size(), 0L);
        return add(
                form,
                Optional.of(quantization(scales, zeroPoints, dimension)),
                buffers.size() - 1,
                false);
    }

    /** Adds a constant that is stored sparsely. */
    public int constant(Form form, FlatTable sparsity, ByteBuffer content) {
        int id = constant(form, content);
        TfLiteTensor dense = tensors.get(id);
        tensors.set(
                id,
                new TfLiteTensor(
                        dense.shape(),
                        dense.shapeSignature(),
                        dense.typeCode(),
                        dense.buffer(),
                        dense.name(),
                        dense.quantization(),
                        dense.isVariable(),
                        Optional.of(sparsity),
                        dense.hasRank()));
        return id;
    }

    /** Adds a constant vector of 32-bit integers. */
    public int ints(int... values) {
        ByteBuffer content = littleEndian(values.length * Integer.BYTES);
        content.asIntBuffer().put(values);
        return constant(Form.of(ElementType.INT32, values.length), content);
    }

    /** Adds a constant of floats. */
    public int floats(int[] shape, float... values) {
        ByteBuffer content = littleEndian(values.length * Float.BYTES);
        content.asFloatBuffer().put(values);
        return constant(Form.of(ElementType.FLOAT32, shape), content);
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Adds a builtin operator with one output, and returns the output. */
    public int operator(String type, Optional<FlatTable> options, Form output, int... operands) {
        int id = tensor(output);
        operator(type, options, List.of(id), operands);
        return id;
    }

    /**
     * Adds a builtin operator without options and with one output of floats, and returns the
     * output.
     */
    public int floatOperator(String type, int[] shape, int... operands) {
        return operator(type, Optional.empty(), Form.of(ElementType.FLOAT32, shape), operands);
    }

    /** Adds a builtin operator. */
    public void operator(
            String type, Optional<FlatTable> options, List<Integer> results, int... operands) {
        operator(TfLiteOperatorCode.builtin(type, 1), options, results, operands);
    }

    /** Adds an operator. */
    public void operator(
            TfLiteOperatorCode code,
            Optional<FlatTable> options,
            List<Integer> results,
            int... operands) {
        operators.add(
                new TfLiteOperator(
                        codes.computeIfAbsent(code, c -> codes.size()),
                        Ints.asList(operands),
                        results,
                        options,
                        TfLiteBytes.EMPTY,
                        0,
                        List.of(),
                        List.of()));
    }

    /** Adds the operator that copies elements of any type into another shape. */
    public int reshape(int tensor, Form output) {
        FlatTable options = FlatTable.of("ReshapeOptions").with("new_shape", output.shape());
        return operator("RESHAPE", Optional.of(options), output, tensor);
    }

    /** Adds every operator's result to the outputs. */
    public ModelSketch outputEverything() {
        operators.stream()
                .flatMap(operator -> operator.outputs().stream())
                .filter(id -> !outputs.contains(id))
                .forEach(outputs::add);
        return this;
    }

    /** Makes tensors outputs of the graph. */
    public ModelSketch output(int... ids) {
        outputs.addAll(Ints.asList(ids));
        return this;
    }

    /**
     * Adds a signature of this graph.
     *
     * @param named the graph's inputs by name, in this order
     * @param namedOutputs the graph's outputs by name, in this order
     */
    public ModelSketch signature(
            String key, Map<String, Integer> named, Map<String, Integer> namedOutputs) {
        signatures.add(
                new TfLiteFile.Signature(
                        entries(named), entries(namedOutputs), key, "", graphs.indexOf(this)));
        return this;
    }

    private static List<TfLiteFile.Signature.Entry> entries(Map<String, Integer> named) {
        return named.entrySet().stream()
                .map(e -> new TfLiteFile.Signature.Entry(e.getKey(), e.getValue()))
                .toList();
    }

    /** Returns the file with all its graphs. */
    public TfLiteFile build() {
        return new TfLiteFile(
                "sketch",
                List.copyOf(codes.keySet()),
                graphs.stream().map(ModelSketch::graph).toList(),
                buffers,
                List.of(),
                List.of(),
                signatures,
                List.of());
    }

    private TfLiteSubgraph graph() {
        return new TfLiteSubgraph(name, tensors, inputs, outputs, operators);
    }

    /**
     * Writes the model and returns its file, which is not synced to disk because tests write
     * thousands.
     */
    public Path write(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer content = TfLiteWriter.toByteBuffer(build());
            while (content.hasRemaining()) {
                channel.write(content);
            }
        }
        return file;
    }
}
