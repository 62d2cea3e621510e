package org.djlplan.memplan.internal.source.tflite;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.Schema.Field;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Small models that tests read, write and damage. */
final class SampleModels {

    private SampleModels() {}

    /** A convolution with its activation as an operator of its own. */
    static TfLiteFile tiny() {
        return stored("tiny");
    }

    /** Eighteen kinds of layers, one after the other. */
    static TfLiteFile layers() {
        return stored("layers");
    }

    private static TfLiteFile stored(String name) {
        try {
            return TfLiteReader.read(
                    Path.of(SampleModels.class.getResource("/tflite/" + name + ".tflite").toURI()));
        } catch (IOException | URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a model without metadata and signatures. */
    static TfLiteFile file(
            List<TfLiteOperatorCode> codes, List<TfLiteBytes> buffers, TfLiteSubgraph... graphs) {
        return new TfLiteFile(
                "", codes, List.of(graphs), buffers, List.of(), List.of(), List.of(), List.of());
    }

    /** Returns a model without operators, whose buffers have these contents. */
    static TfLiteFile withBuffers(List<TfLiteBytes> contents) {
        List<TfLiteBytes> buffers = new ArrayList<>(List.of(TfLiteBytes.EMPTY));
        buffers.addAll(contents);
        return file(List.of(), buffers, graphWithoutTensors());
    }

    static TfLiteSubgraph graphWithoutTensors() {
        return new TfLiteSubgraph("", List.of(), List.of(), List.of(), List.of());
    }

    /** Returns a tensor of floats that keeps its content. */
    static TfLiteTensor state(List<Integer> shape, String name) {
        return new TfLiteTensor(
                shape,
                List.of(),
                TfLiteTensor.FLOAT32,
                0,
                name,
                Optional.empty(),
                true,
                Optional.empty(),
                false);
    }

    /** Returns a constant of floats that is stored sparsely. */
    static TfLiteTensor sparse(List<Integer> shape, int buffer, String name, FlatTable sparsity) {
        return new TfLiteTensor(
                shape,
                List.of(),
                TfLiteTensor.FLOAT32,
                buffer,
                name,
                Optional.empty(),
                false,
                Optional.of(sparsity),
                false);
    }

    static TfLiteOperator operator(
            int code,
            List<Integer> inputs,
            List<Integer> outputs,
            Optional<FlatTable> options,
            List<Boolean> mutating,
            List<Integer> intermediates) {
        return new TfLiteOperator(
                code, inputs, outputs, options, TfLiteBytes.EMPTY, 0, mutating, intermediates);
    }

    /**
     * Returns a model with all features of the format: quantization, sparsity, state, control flow,
     * signatures.
     */
    static TfLiteFile everything() {
        return new TfLiteFile(
                "everything, with an umlaut: ü",
                List.of(
                        TfLiteOperatorCode.builtin("WHILE", 1),
                        new TfLiteOperatorCode(TfLiteOperatorCode.CUSTOM, "MyOperator", 7),
                        TfLiteOperatorCode.builtin("BROADCAST_TO", 2)),
                List.of(mainSubgraph(), smallSubgraph("condition"), smallSubgraph("")),
                List.of(TfLiteBytes.EMPTY, bytes(5), bytes(16), TfLiteBytes.EMPTY),
                List.of(1),
                List.of(new TfLiteFile.Metadata("min_runtime_version", 1)),
                List.of(
                        new TfLiteFile.Signature(
                                List.of(new TfLiteFile.Signature.Entry("x", 0)),
                                List.of(new TfLiteFile.Signature.Entry("y", 5)),
                                "serving_default",
                                "serve",
                                0)),
                List.of());
    }

    private static TfLiteSubgraph mainSubgraph() {
        TfLiteTensor.Quantization quantization =
                new TfLiteTensor.Quantization(
                        List.of(-1f, Float.NaN),
                        List.of(1f, 2f),
                        List.of(0.5f, 0.25f),
                        List.of(3L, Long.MIN_VALUE),
                        Optional.of(FlatTable.of("CustomQuantization").with("custom", bytes(3))),
                        1);
        return new TfLiteSubgraph(
                "main",
                List.of(
                        new TfLiteTensor(
                                List.of(1, 2),
                                List.of(-1, 2),
                                9,
                                0,
                                "input",
                                Optional.of(quantization),
                                false,
                                Optional.empty(),
                                true),
                        sparse(),
                        state(List.of(3), "state"),
                        TfLiteTensor.plain(List.of(), TfLiteTensor.FLOAT32, 0, "scalar"),
                        TfLiteTensor.plain(List.of(0, 3), TfLiteTensor.INT32, 3, "no elements"),
                        TfLiteTensor.plain(List.of(-1, 3), TfLiteTensor.FLOAT32, 0, "dynamic"),
                        TfLiteTensor.plain(List.of(2), 5, 0, "")),
                List.of(0),
                List.of(5, 6),
                List.of(
                        TfLiteOperator.builtin(
                                0,
                                List.of(0),
                                List.of(3),
                                FlatTable.of("WhileOptions")
                                        .with("cond_subgraph_index", 1)
                                        .with("body_subgraph_index", 2)),
                        new TfLiteOperator(
                                1,
                                List.of(3, TfLiteOperator.ABSENT, 1, 2, 4),
                                List.of(5, 6),
                                Optional.empty(),
                                bytes(7),
                                0,
                                List.of(false, false, false, true, false),
                                List.of(0))));
    }

    private static TfLiteTensor sparse() {
        FlatTable dense = FlatTable.of("DimensionMetadata").with("format", 0).with("dense_size", 4);
        FlatTable compressed =
                FlatTable.of("DimensionMetadata")
                        .with("format", 1)
                        .with(
                                "array_segments",
                                FlatTable.of("Int32Vector")
                                        .with("values", littleEndian(4, 0, 1, 1, 2, 3)))
                        .with(
                                "array_indices",
                                FlatTable.of("Uint16Vector")
                                        .with("values", littleEndian(2, 3, 0, 2)));
        FlatTable sparsity =
                FlatTable.of("SparsityParameters")
                        .with("traversal_order", ImmutableList.of(0, 1))
                        .with("dim_metadata", ImmutableList.of(dense, compressed));
        return sparse(List.of(4, 4), 2, "sparse", sparsity);
    }

    private static TfLiteSubgraph smallSubgraph(String name) {
        return new TfLiteSubgraph(
                name,
                List.of(
                        TfLiteTensor.plain(List.of(1, 2), 9, 0, "a"),
                        TfLiteTensor.plain(List.of(1, 2), 9, 0, "b")),
                List.of(0),
                List.of(1),
                List.of(
                        TfLiteOperator.builtin(
                                2, List.of(0), List.of(1), FlatTable.of("BroadcastToOptions"))));
    }

    /** One operator for each table of builtin options, all of its fields stored. */
    static TfLiteFile allOptions() {
        List<TfLiteTensor> tensors = new ArrayList<>();
        List<TfLiteOperator> operators = new ArrayList<>();
        tensors.add(TfLiteTensor.plain(List.of(1), TfLiteTensor.FLOAT32, 0, ""));
        for (String type : Schema.union("BuiltinOptions")) {
            tensors.add(TfLiteTensor.plain(List.of(1), TfLiteTensor.FLOAT32, 0, type));
            FlatTable options = FlatTable.of(type);
            for (Field field : Schema.table(type).fields().values()) {
                options = options.with(field.name(), sampleValue(field));
            }
            operators.add(
                    TfLiteOperator.builtin(0, List.of(0), List.of(tensors.size() - 1), options));
        }
        TfLiteSubgraph main =
                new TfLiteSubgraph(
                        "main", tensors, List.of(0), List.of(tensors.size() - 1), operators);
        return file(
                List.of(TfLiteOperatorCode.builtin("RELU", 1)),
                List.of(TfLiteBytes.EMPTY),
                main,
                graphWithoutTensors());
    }

    private static Object sampleValue(Field field) {
        int number = field.slot() + 1;
        boolean callsSubgraph = field.name().contains("subgraph");
        Object value =
                switch (field.kind()) {
                    case BOOL -> !(Boolean) field.defaultValue();
                    case BYTE -> -number;
                    case INT -> callsSubgraph ? 1 : -1000 * number;
                    case UINT -> 1L;
                    case LONG -> Long.MAX_VALUE - number;
                    case FLOAT -> number / 8f;
                    case STRING -> "text " + number;
                    case TABLE, UNION, RAW -> throw new AssertionError(field);
                };
        return field.vector() ? ImmutableList.of(value, value, value) : value;
    }

    /** Numbers of so many bytes each. */
    static TfLiteBytes littleEndian(int numberBytes, int... numbers) {
        byte[] content = new byte[numberBytes * numbers.length];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (numbers[i / numberBytes] >> (Byte.SIZE * (i % numberBytes)));
        }
        return TfLiteBytes.of(content);
    }

    private static TfLiteBytes bytes(int count) {
        byte[] content = new byte[count];
        for (int i = 0; i < count; i++) {
            content[i] = (byte) (i + 1);
        }
        return TfLiteBytes.of(content);
    }

    static List<TfLiteFile> all() {
        return List.of(tiny(), layers(), everything(), allOptions());
    }

    /** The bytes of {@link #tiny}, for damaging. */
    static ByteBuffer tinyFile() {
        try {
            return TfLiteWriter.toByteBuffer(tiny());
        } catch (TfLiteWriteException e) {
            throw new AssertionError(e);
        }
    }
}
