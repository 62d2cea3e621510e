package org.djlplan.memplan.cli.demo;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteBytes;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteOperator;
import org.djlplan.memplan.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.source.tflite.TfLiteTensor;

/** The parts of a model while it grows: tensors, buffers, operators. */
final class ModelParts {

    private final List<TfLiteTensor> tensors = new ArrayList<>();
    private final List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
    private final List<TfLiteOperator> operators = new ArrayList<>();
    private final Map<TfLiteOperatorCode, Integer> codes = new LinkedHashMap<>();
    private final Random random;

    ModelParts(long seed) {
        random = new Random(seed);
    }

    Value tensor(String name, List<Integer> shape) {
        return add(TfLiteTensor.plain(shape, TfLiteTensor.FLOAT32, 0, name));
    }

    private Value add(TfLiteTensor tensor) {
        checkArgument(
                tensor.shape().stream().allMatch(dimension -> dimension > 0),
                "%s would have the shape %s",
                tensor.name(),
                tensor.shape());
        tensors.add(tensor);
        return new Value(tensors.size() - 1, tensor.shape());
    }

    private Value constant(String name, List<Integer> shape, int typeCode, ByteBuffer content) {
        buffers.add(TfLiteBytes.of(content));
        return add(TfLiteTensor.plain(shape, typeCode, buffers.size() - 1, name));
    }

    Value ints(String name, List<Integer> shape, List<Integer> values) {
        ByteBuffer content = littleEndian(values.size());
        values.forEach(content::putInt);
        return constant(name, shape, TfLiteTensor.INT32, content.flip());
    }

    /** Numbers spread evenly around 0 with a given standard deviation. */
    Value randoms(String name, List<Integer> shape, double deviation) {
        int count = shape.stream().reduce(1, Math::multiplyExact);
        float reach = (float) (deviation * Math.sqrt(3));
        ByteBuffer content = littleEndian(count);
        for (int i = 0; i < count; i++) {
            content.putFloat((2 * random.nextFloat() - 1) * reach);
        }
        return constant(name, shape, TfLiteTensor.FLOAT32, content.flip());
    }

    private static ByteBuffer littleEndian(int elements) {
        return ByteBuffer.allocate(Math.multiplyExact(elements, Integer.BYTES))
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    Value operator(
            String type,
            Optional<FlatTable> options,
            String outputName,
            List<Integer> outputShape,
            List<Value> inputs) {
        Value output = tensor(outputName, outputShape);
        operators.add(
                new TfLiteOperator(
                        codes.computeIfAbsent(
                                TfLiteOperatorCode.builtin(type, 1), code -> codes.size()),
                        inputs.stream().map(Value::tensor).toList(),
                        List.of(output.tensor()),
                        options,
                        TfLiteBytes.EMPTY,
                        0,
                        List.of(),
                        List.of()));
        return output;
    }

    int operatorCount() {
        return operators.size();
    }

    TfLiteFile build(String description, List<Integer> inputs, List<Integer> outputs) {
        return new TfLiteFile(
                description,
                List.copyOf(codes.keySet()),
                List.of(new TfLiteSubgraph("main", tensors, inputs, outputs, operators)),
                buffers,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }
}
