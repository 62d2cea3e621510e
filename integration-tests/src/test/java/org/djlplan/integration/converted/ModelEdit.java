package org.djlplan.integration.converted;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor.Quantization;

/**
 * Builds a model from another one with a single graph: tensors keep their numbers, new ones are
 * added, and operators are listed anew. Unused tensors are dropped at the end.
 */
final class ModelEdit {

    private static final int ABSENT = TfLiteOperator.ABSENT;

    private final TfLiteFile file;
    private final List<TfLiteTensor> tensors;
    private final List<TfLiteBytes> buffers;
    private final List<TfLiteOperatorCode> codes;
    private final List<TfLiteOperator> operators = new ArrayList<>();

    ModelEdit(TfLiteFile file) {
        this.file = file;
        tensors = new ArrayList<>(file.main().tensors());
        buffers = new ArrayList<>(file.buffers());
        codes = new ArrayList<>(file.operatorCodes());
    }

    TfLiteTensor tensor(int id) {
        return tensors.get(id);
    }

    /** Returns whether a tensor is a constant of floats. */
    boolean isFloats(int id) {
        return id != ABSENT
                && tensor(id).typeCode() == TfLiteTensor.FLOAT32
                && file.isConstant(tensor(id));
    }

    /** Returns the content of a constant of floats. */
    float[] floats(int id) {
        FloatBuffer content = content(id).asFloatBuffer();
        float[] values = new float[content.remaining()];
        content.get(values);
        return values;
    }

    ByteBuffer content(int id) {
        return buffers.get(tensor(id).buffer()).buffer();
    }

    static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Adds a tensor with the shape and name of an existing one. */
    int add(int like, int typeCode, int buffer, Optional<Quantization> quantization) {
        TfLiteTensor old = tensor(like);
        tensors.add(
                new TfLiteTensor(
                        old.shape(),
                        old.shapeSignature(),
                        typeCode,
                        buffer,
                        old.name(),
                        quantization,
                        false,
                        Optional.empty(),
                        old.hasRank()));
        return tensors.size() - 1;
    }

    /** Adds a constant with the shape and name of an existing tensor. */
    int constant(int like, int typeCode, ByteBuffer values, Optional<Quantization> quantization) {
        buffers.add(TfLiteBytes.of(values));
        return add(like, typeCode, buffers.size() - 1, quantization);
    }

    /** Adds an operator of the model, with other operands. */
    void operator(TfLiteOperator old, List<Integer> inputs, List<Integer> outputs) {
        operators.add(
                new TfLiteOperator(
                        old.opcodeIndex(),
                        inputs,
                        outputs,
                        old.builtinOptions(),
                        old.customOptions(),
                        old.customOptionsFormat(),
                        old.mutatingVariableInputs(),
                        old.intermediates()));
    }

    /** Adds an operator from one tensor to another of the same shape. */
    void operator(TfLiteOperatorCode code, FlatTable options, int input, int output) {
        if (!codes.contains(code)) {
            codes.add(code);
        }
        operators.add(
                TfLiteOperator.builtin(
                        codes.indexOf(code), List.of(input), List.of(output), options));
    }

    /** Returns the edited model. */
    TfLiteFile build(List<Integer> inputs, List<Integer> outputs) {
        Map<Integer, Integer> ids = new HashMap<>();
        Map<Integer, Integer> places = new HashMap<>();
        List<TfLiteTensor> used = new ArrayList<>();
        List<TfLiteBytes> contents = new ArrayList<>();
        place(0, places, contents);
        Stream<Integer> operands =
                operators.stream()
                        .flatMap(o -> Stream.of(o.inputs(), o.outputs(), o.intermediates()))
                        .flatMap(List::stream);
        Stream.of(inputs.stream(), outputs.stream(), operands)
                .flatMap(all -> all)
                .filter(id -> id != ABSENT && !ids.containsKey(id))
                .forEach(
                        id -> {
                            ids.put(id, used.size());
                            used.add(placed(tensor(id), places, contents));
                        });
        List<TfLiteOperator> moved =
                operators.stream()
                        .map(
                                o ->
                                        new TfLiteOperator(
                                                o.opcodeIndex(),
                                                moved(o.inputs(), ids),
                                                moved(o.outputs(), ids),
                                                o.builtinOptions(),
                                                o.customOptions(),
                                                o.customOptionsFormat(),
                                                o.mutatingVariableInputs(),
                                                moved(o.intermediates(), ids)))
                        .toList();
        TfLiteSubgraph main =
                new TfLiteSubgraph(
                        file.main().name(), used, moved(inputs, ids), moved(outputs, ids), moved);
        return new TfLiteFile(
                file.description(),
                codes,
                List.of(main),
                contents,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    private TfLiteTensor placed(
            TfLiteTensor tensor, Map<Integer, Integer> places, List<TfLiteBytes> contents) {
        return new TfLiteTensor(
                tensor.shape(),
                tensor.shapeSignature(),
                tensor.typeCode(),
                place(tensor.buffer(), places, contents),
                tensor.name(),
                tensor.quantization(),
                tensor.isVariable(),
                tensor.sparsity(),
                tensor.hasRank());
    }

    private int place(int buffer, Map<Integer, Integer> places, List<TfLiteBytes> contents) {
        if (!places.containsKey(buffer)) {
            places.put(buffer, contents.size());
            contents.add(buffers.get(buffer));
        }
        return places.get(buffer);
    }

    private static List<Integer> moved(List<Integer> of, Map<Integer, Integer> ids) {
        return of.stream().map(id -> id == ABSENT ? id : ids.get(id)).toList();
    }
}
