package org.djlplan.integration.networks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;

/**
 * A network of 32-bit floats with 16-bit constants, as a converter writes it: the first operators
 * unpack one constant each.
 */
public final class PackedWeights {

    private static final int FLOAT16 = 1;

    private final TfLiteFile file;
    private final IntFunction<ByteBuffer> memory;
    private final List<TfLiteTensor> tensors;
    private final List<TfLiteBytes> buffers;
    private final List<TfLiteOperator> unpacking = new ArrayList<>();

    private PackedWeights(TfLiteFile file, IntFunction<ByteBuffer> memory) {
        this.file = file;
        this.memory = memory;
        tensors = new ArrayList<>(file.subgraphs().get(0).tensors());
        buffers = new ArrayList<>(file.buffers());
    }

    /**
     * Returns the network.
     *
     * @param file a model with one graph, in which every constant of floats has a reader
     * @param memory makes the buffers of the packed weights
     */
    public static TfLiteFile of(TfLiteFile file, IntFunction<ByteBuffer> memory) {
        return new PackedWeights(file, memory).build();
    }

    private TfLiteFile build() {
        TfLiteSubgraph graph = file.subgraphs().get(0);
        for (int id = 0; id < graph.tensors().size(); id++) {
            TfLiteTensor tensor = tensors.get(id);
            if (tensor.typeCode() == TfLiteTensor.FLOAT32 && tensor.buffer() != 0) {
                pack(id, tensor);
            }
        }
        List<TfLiteOperatorCode> codes = new ArrayList<>(file.operatorCodes());
        codes.add(TfLiteOperatorCode.builtin("DEQUANTIZE", 3));
        List<TfLiteOperator> operators = new ArrayList<>(unpacking);
        operators.addAll(graph.operators());
        return new TfLiteFile(
                file.description() + ", of 16 bits",
                codes,
                List.of(
                        new TfLiteSubgraph(
                                graph.name(), tensors, graph.inputs(), graph.outputs(), operators)),
                buffers,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    /**
     * Puts a tensor's packed content into a new tensor, from which an operator makes the old one.
     */
    private void pack(int id, TfLiteTensor tensor) {
        buffers.set(tensor.buffer(), packed(buffers.get(tensor.buffer()).buffer()));
        tensors.add(
                TfLiteTensor.plain(
                        tensor.shape(), FLOAT16, tensor.buffer(), tensor.name() + "/packed"));
        tensors.set(id, TfLiteTensor.plain(tensor.shape(), TfLiteTensor.FLOAT32, 0, tensor.name()));
        unpacking.add(
                new TfLiteOperator(
                        file.operatorCodes().size(),
                        List.of(tensors.size() - 1),
                        List.of(id),
                        Optional.of(FlatTable.of("DequantizeOptions")),
                        TfLiteBytes.EMPTY,
                        0,
                        List.of(),
                        List.of()));
    }

    private TfLiteBytes packed(ByteBuffer floats) {
        ByteBuffer halves = memory.apply(floats.remaining() / 2).order(ByteOrder.LITTLE_ENDIAN);
        while (floats.hasRemaining()) {
            halves.putShort(Half.of(floats.getFloat()));
        }
        return TfLiteBytes.of(halves.flip());
    }
}
