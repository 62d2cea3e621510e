package org.djlplan.integration.support;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteBytes;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteOperator;
import org.djlplan.memplan.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.source.tflite.TfLiteTensor;
import org.djlplan.memplan.source.tflite.TfLiteWriter;

/** A small model of any element type, written down operator by operator. Tensors are ids. */
public final class ModelSketch {

    /** The element types in the order of their numbers in TensorFlow's schema. */
    private static final ImmutableList<ElementType> TYPES =
            ImmutableList.of(
                    ElementType.FLOAT32,
                    ElementType.FLOAT16,
                    ElementType.INT32,
                    ElementType.UINT8,
                    ElementType.INT64,
                    ElementType.OPAQUE,
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

    private final List<TfLiteTensor> tensors = new ArrayList<>();
    private final List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
    private final List<TfLiteOperator> operators = new ArrayList<>();
    private final Map<TfLiteOperatorCode, Integer> codes = new LinkedHashMap<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    /**
     * What a tensor is.
     *
     * @param scale and {@code zeroPoint}: how integers stand for real values; scale 0 for not at
     *     all
     */
    public record Form(ElementType type, List<Integer> shape, float scale, long zeroPoint) {

        public Form {
            shape = ImmutableList.copyOf(shape);
        }

        /** A form without quantization. */
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

    private int add(Form form, int buffer) {
        Optional<TfLiteTensor.Quantization> quantization =
                form.scale() == 0
                        ? Optional.empty()
                        : Optional.of(
                                new TfLiteTensor.Quantization(
                                        List.of(),
                                        List.of(),
                                        List.of(form.scale()),
                                        List.of(form.zeroPoint()),
                                        Optional.empty(),
                                        0));
        tensors.add(
                new TfLiteTensor(
                        form.shape(),
                        List.of(),
                        TYPES.indexOf(form.type()),
                        buffer,
                        "tensor_" + tensors.size(),
                        quantization,
                        false,
                        Optional.empty(),
                        false));
        return tensors.size() - 1;
    }

    /** Adds an input of the model. */
    public int input(Form form) {
        int id = add(form, 0);
        inputs.add(id);
        return id;
    }

    /** Adds a constant. */
    public int constant(Form form, ByteBuffer content) {
        buffers.add(TfLiteBytes.of(content));
        return add(form, buffers.size() - 1);
    }

    /** Adds a constant vector of 32-bit integers. */
    public int ints(int... values) {
        ByteBuffer content =
                ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        Ints.asList(values).forEach(content::putInt);
        return constant(Form.of(ElementType.INT32, values.length), content.rewind());
    }

    /** Adds an operator with one output, which it returns. */
    public int operator(String type, Optional<FlatTable> options, Form output, int... operands) {
        int id = add(output, 0);
        operators.add(
                new TfLiteOperator(
                        codes.computeIfAbsent(
                                TfLiteOperatorCode.builtin(type, 1), code -> codes.size()),
                        Ints.asList(operands),
                        List.of(id),
                        options,
                        TfLiteBytes.EMPTY,
                        0,
                        List.of(),
                        List.of()));
        return id;
    }

    /** Adds the operator that copies elements of any type into another shape. */
    public int reshape(int tensor, Form output) {
        FlatTable options = FlatTable.of("ReshapeOptions").with("new_shape", output.shape());
        return operator("RESHAPE", Optional.of(options), output, tensor);
    }

    /** Makes a tensor an output of the model. */
    public ModelSketch output(int tensor) {
        outputs.add(tensor);
        return this;
    }

    /** Returns the model. */
    public TfLiteFile build() {
        return new TfLiteFile(
                "sketch",
                List.copyOf(codes.keySet()),
                List.of(new TfLiteSubgraph("main", tensors, inputs, outputs, operators)),
                buffers,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    /** Writes the model and returns its file. Thousands are written: none is synced to disk. */
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
