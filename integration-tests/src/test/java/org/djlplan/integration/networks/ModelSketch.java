package org.djlplan.integration.networks;

import com.google.common.primitives.Ints;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteBytes;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteOperator;
import org.djlplan.memplan.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.source.tflite.TfLiteTensor;

/**
 * A model tensor by tensor, for what a builder of plain networks does not make: states, control
 * flow, sizes known only at run time, custom operators. The first graph that is begun is the model.
 */
public final class ModelSketch {

    /** Number of the element type of 32-bit floats. */
    public static final int F32 = TfLiteTensor.FLOAT32;

    /** Number of the element type of 32-bit integers. */
    public static final int I32 = TfLiteTensor.INT32;

    /** Number of the element type of truth values. */
    public static final int BOOL = 6;

    /** The input that is left out. */
    public static final int ABSENT = TfLiteOperator.ABSENT;

    private final List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
    private final Map<TfLiteOperatorCode, Integer> codes = new LinkedHashMap<>();
    private final List<SubgraphSketch> subgraphs = new ArrayList<>();

    /** Begins the next subgraph. */
    public SubgraphSketch graph(String name) {
        SubgraphSketch subgraph = new SubgraphSketch(name);
        subgraphs.add(subgraph);
        return subgraph;
    }

    /** Returns the model. */
    public TfLiteFile build() {
        return new TfLiteFile(
                "sketch",
                List.copyOf(codes.keySet()),
                subgraphs.stream().map(SubgraphSketch::build).toList(),
                buffers,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    /** One subgraph; tensors are named by the numbers that its methods return. */
    public final class SubgraphSketch {

        private final String name;
        private final List<TfLiteTensor> tensors = new ArrayList<>();
        private final List<TfLiteOperator> operators = new ArrayList<>();
        private final List<Integer> inputs = new ArrayList<>();
        private final List<Integer> outputs = new ArrayList<>();

        private SubgraphSketch(String name) {
            this.name = name;
        }

        /** A tensor that the caller fills. */
        public int input(int type, int... shape) {
            int id = tensor(type, shape);
            inputs.add(id);
            return id;
        }

        /** Makes tensors ones that the caller reads. */
        public void output(int... ids) {
            outputs.addAll(Ints.asList(ids));
        }

        /** A tensor without content. */
        public int tensor(int type, int... shape) {
            return add(type, 0, false, shape);
        }

        /** A tensor of floats that keeps its content from one prediction to the next. */
        public int state(int... shape) {
            return add(F32, 0, true, shape);
        }

        /** A constant vector or, without dimensions, scalar. */
        public int ints(int[] shape, int... values) {
            ByteBuffer content = littleEndian(values.length);
            for (int value : values) {
                content.putInt(value);
            }
            return constant(I32, content, shape);
        }

        /** A constant of floats. */
        public int floats(int[] shape, float... values) {
            ByteBuffer content = littleEndian(values.length);
            for (float value : values) {
                content.putFloat(value);
            }
            return constant(F32, content, shape);
        }

        private int constant(int type, ByteBuffer content, int... shape) {
            buffers.add(TfLiteBytes.of(content.flip()));
            return add(type, buffers.size() - 1, false, shape);
        }

        private static ByteBuffer littleEndian(int elements) {
            return ByteBuffer.allocate(elements * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        }

        private int add(int type, int buffer, boolean variable, int... shape) {
            tensors.add(
                    new TfLiteTensor(
                            Ints.asList(shape),
                            List.of(),
                            type,
                            buffer,
                            name + tensors.size(),
                            Optional.empty(),
                            variable,
                            Optional.empty(),
                            false));
            return tensors.size() - 1;
        }

        /** An operator of one output that is a new tensor of floats. */
        public int floatOperator(String type, int[] shape, int... inputs) {
            int output = tensor(F32, shape);
            operator(type, Optional.empty(), List.of(output), inputs);
            return output;
        }

        /** A builtin operator. */
        public void operator(
                String type, Optional<FlatTable> options, List<Integer> outputs, int... inputs) {
            operator(TfLiteOperatorCode.builtin(type, 1), options, outputs, inputs);
        }

        /** An operator. */
        public void operator(
                TfLiteOperatorCode code,
                Optional<FlatTable> options,
                List<Integer> outputs,
                int... inputs) {
            operators.add(
                    new TfLiteOperator(
                            codes.computeIfAbsent(code, c -> codes.size()),
                            Ints.asList(inputs),
                            outputs,
                            options,
                            TfLiteBytes.EMPTY,
                            0,
                            List.of(),
                            List.of()));
        }

        private TfLiteSubgraph build() {
            return new TfLiteSubgraph(name, tensors, inputs, outputs, operators);
        }
    }
}
