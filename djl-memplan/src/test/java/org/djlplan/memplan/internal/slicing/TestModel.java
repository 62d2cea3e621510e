package org.djlplan.memplan.internal.slicing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Builds a model operator by operator; tensors are named by their numbers. */
final class TestModel {

    static final int FLOAT16 = 1;
    static final int INT8 = 9;

    private final List<TfLiteTensor> tensors = new ArrayList<>();
    private final List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
    private final List<TfLiteOperatorCode> codes = new ArrayList<>();
    private final List<TfLiteOperator> operators = new ArrayList<>();
    private final List<Integer> inputs = new ArrayList<>();
    private final List<Integer> outputs = new ArrayList<>();

    /** Adds a tensor of floats without content. */
    int tensor(int... shape) {
        return add(TfLiteTensor.plain(Ints.asList(shape), TfLiteTensor.FLOAT32, 0, name()));
    }

    /** Adds any tensor. */
    int add(TfLiteTensor tensor) {
        tensors.add(tensor);
        return tensors.size() - 1;
    }

    /** Adds an input of floats. */
    int input(int... shape) {
        inputs.add(tensor(shape));
        return inputs.get(inputs.size() - 1);
    }

    /** Adds a constant of floats 0, 1, 2, … */
    int constant(int... shape) {
        int count = 1;
        for (int size : shape) {
            count *= size;
        }
        ByteBuffer content =
                ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            content.putFloat(i);
        }
        return constant(TfLiteTensor.FLOAT32, content.flip(), shape);
    }

    /** Adds a constant of any type. */
    int constant(int typeCode, ByteBuffer content, int... shape) {
        buffers.add(TfLiteBytes.of(content));
        return add(TfLiteTensor.plain(Ints.asList(shape), typeCode, buffers.size() - 1, name()));
    }

    /** Adds an operator; returns its only output. */
    int operator(String name, Optional<FlatTable> options, int output, int... operands) {
        TfLiteOperatorCode code = TfLiteOperatorCode.builtin(name, 1);
        if (!codes.contains(code)) {
            codes.add(code);
        }
        operators.add(
                new TfLiteOperator(
                        codes.indexOf(code),
                        Ints.asList(operands),
                        List.of(output),
                        options,
                        TfLiteBytes.EMPTY,
                        0,
                        List.of(),
                        List.of()));
        return output;
    }

    /** Adds a convolution with SAME padding; returns its output. */
    int convolution(int x, int weights, int bias, int output) {
        return operator("CONV_2D", Optional.of(convolutionOptions()), output, x, weights, bias);
    }

    static FlatTable convolutionOptions() {
        return FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
    }

    /** Adds a fully connected layer; returns its output. */
    int connected(int x, int weights, int output) {
        FlatTable options = FlatTable.of("FullyConnectedOptions");
        return operator(
                "FULLY_CONNECTED", Optional.of(options), output, x, weights, TfLiteOperator.ABSENT);
    }

    /** Adds an operator of one operand whose output has its shape. */
    int copy(int x) {
        return operator("ABS", Optional.empty(), tensor(Ints.toArray(tensors.get(x).shape())), x);
    }

    /** Makes tensors outputs. */
    TestModel output(int... ids) {
        outputs.addAll(Ints.asList(ids));
        return this;
    }

    TfLiteFile build() {
        return new TfLiteFile(
                "",
                codes,
                List.of(new TfLiteSubgraph("main", tensors, inputs, outputs, operators)),
                buffers,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    private String name() {
        return "t" + tensors.size();
    }
}
