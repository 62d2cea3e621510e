package org.djlplan.memplan.internal.slicing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * A model whose main graph is being rewritten. Tensors and buffers keep their indices, and new ones
 * follow; operators are added again, in execution order.
 */
final class ModelEdit {

    private final TfLiteFile file;
    private final List<TfLiteOperatorCode> codes;
    private final List<TfLiteTensor> tensors;
    private final List<TfLiteBytes> buffers;
    private final List<TfLiteOperator> operators = new ArrayList<>();

    /** Creates a copy of a model without its operators. */
    ModelEdit(TfLiteFile file) {
        this.file = file;
        codes = new ArrayList<>(file.operatorCodes());
        tensors = new ArrayList<>(file.main().tensors());
        buffers = new ArrayList<>(file.buffers());
    }

    /** Returns a tensor. */
    TfLiteTensor tensor(int id) {
        return tensors.get(id);
    }

    /** Returns the number of operators so far, which is the index of the next one. */
    int operatorCount() {
        return operators.size();
    }

    /** Adds a tensor of floats without content. */
    int addTensor(List<Integer> shape, String name) {
        tensors.add(TfLiteTensor.plain(shape, TfLiteTensor.FLOAT32, 0, name));
        return tensors.size() - 1;
    }

    /** Adds a constant of floats. */
    int addConstant(List<Integer> shape, String name, TfLiteBytes content) {
        return addConstant(shape, TfLiteTensor.FLOAT32, name, content);
    }

    /** Adds a constant of 32-bit integers. */
    int addInts(List<Integer> shape, String name, int... values) {
        ByteBuffer content =
                ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(values);
        return addConstant(shape, TfLiteTensor.INT32, name, TfLiteBytes.of(content));
    }

    private int addConstant(List<Integer> shape, int typeCode, String name, TfLiteBytes content) {
        buffers.add(content);
        tensors.add(TfLiteTensor.plain(shape, typeCode, buffers.size() - 1, name));
        return tensors.size() - 1;
    }

    /** Sets the constant content of a tensor without content. */
    void fill(int id, TfLiteBytes content) {
        buffers.add(content);
        tensors.set(id, withBuffer(tensors.get(id), buffers.size() - 1));
    }

    /** Adds an unchanged operator. */
    void addOperator(TfLiteOperator operator) {
        operators.add(operator);
    }

    /** Adds a builtin operator of version 1. */
    void addOperator(String name, FlatTable options, int output, int... inputs) {
        TfLiteOperatorCode code = TfLiteOperatorCode.builtin(name, 1);
        int index = codes.indexOf(code);
        if (index < 0) {
            index = codes.size();
            codes.add(code);
        }
        operators.add(TfLiteOperator.builtin(index, Ints.asList(inputs), List.of(output), options));
    }

    /** Adds an operator of the same kind as another one. */
    void addOperator(
            TfLiteOperator like, Optional<FlatTable> options, int output, List<Integer> inputs) {
        operators.add(
                new TfLiteOperator(
                        like.opcodeIndex(),
                        inputs,
                        List.of(output),
                        options,
                        like.customOptions(),
                        like.customOptionsFormat(),
                        like.mutatingVariableInputs(),
                        like.intermediates()));
    }

    /** Returns the model, without the content of constants that have no readers. */
    TfLiteFile build() {
        emptyUnread();
        TfLiteSubgraph main = file.main();
        ImmutableList<TfLiteSubgraph> subgraphs =
                ImmutableList.<TfLiteSubgraph>builder()
                        .add(
                                new TfLiteSubgraph(
                                        main.name(),
                                        tensors,
                                        main.inputs(),
                                        main.outputs(),
                                        operators))
                        .addAll(file.subgraphs().subList(1, file.subgraphs().size()))
                        .build();
        return new TfLiteFile(
                file.description(),
                codes,
                subgraphs,
                withoutUnread(subgraphs),
                file.metadataBuffers(),
                file.metadata(),
                file.signatures(),
                file.notCarried());
    }

    private void emptyUnread() {
        BitSet used = new BitSet();
        file.main().inputs().forEach(used::set);
        file.main().outputs().forEach(used::set);
        for (TfLiteOperator operator : operators) {
            operator.presentInputs().forEach(used::set);
            operator.presentOutputs().forEach(used::set);
            operator.intermediates().stream().filter(id -> id >= 0).forEach(used::set);
        }
        for (int id = used.nextClearBit(0); id < tensors.size(); id = used.nextClearBit(id + 1)) {
            TfLiteTensor unread = tensors.get(id);
            if (!unread.isVariable()) {
                tensors.set(
                        id, TfLiteTensor.plain(List.of(0), unread.typeCode(), 0, unread.name()));
            }
        }
    }

    private List<TfLiteBytes> withoutUnread(List<TfLiteSubgraph> subgraphs) {
        BitSet read = new BitSet();
        file.metadataBuffers().forEach(read::set);
        file.metadata().forEach(entry -> read.set(entry.buffer()));
        subgraphs.forEach(graph -> graph.tensors().forEach(tensor -> read.set(tensor.buffer())));
        List<TfLiteBytes> kept = new ArrayList<>(buffers);
        for (int i = read.nextClearBit(0); i < kept.size(); i = read.nextClearBit(i + 1)) {
            kept.set(i, TfLiteBytes.EMPTY);
        }
        return kept;
    }

    private static TfLiteTensor withBuffer(TfLiteTensor tensor, int buffer) {
        return new TfLiteTensor(
                tensor.shape(),
                tensor.shapeSignature(),
                tensor.typeCode(),
                buffer,
                tensor.name(),
                tensor.quantization(),
                tensor.isVariable(),
                tensor.sparsity(),
                tensor.hasRank());
    }
}
