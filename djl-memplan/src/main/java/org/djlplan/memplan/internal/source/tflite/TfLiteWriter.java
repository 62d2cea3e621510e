package org.djlplan.memplan.internal.source.tflite;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.djlplan.memplan.internal.source.tflite.FlatTableWriter.Layout;
import org.djlplan.memplan.internal.source.tflite.FlatTableWriter.PlacedRaw;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Writes {@code .tflite} files that {@link TfLiteReader} reads back as equal models. Buffers are
 * aligned to 16 bytes, as TensorFlow Lite's kernels expect.
 */
public final class TfLiteWriter {

    /** Alignment of large buffers that are loaded one by one. */
    public static final int PAGE_BYTES = 4096;

    /** Largest number of bytes that is read or computed, and written, at once. */
    private static final int PIECE_BYTES = 1 << 20;

    private TfLiteWriter() {}

    /**
     * Writes a file. The file is written atomically: under a temporary name, then renamed, so that
     * processes that have mapped an older file keep it.
     *
     * @throws TfLiteWriteException if the model has unsupported parts, or is too large
     * @throws IOException if the folder is not writable
     */
    public static void write(TfLiteFile model, Path file) throws IOException {
        write(layout(model, new FlatTableWriter()), file);
    }

    /**
     * Writes a file whose large buffers can be loaded from disk one by one: each of {@link
     * #PAGE_BYTES} or more starts at a page boundary, and shares its pages with no other buffer.
     * The file's size is a multiple of the page size, too. It takes little memory: buffers are read
     * in pieces, in the order of writing.
     *
     * @param file must not exist, and is removed if this fails
     * @param progress receives the number of written bytes from time to time
     * @throws TfLiteWriteException if the model has unsupported parts, or is too large
     * @throws IOException if the folder is not writable, or the disk is full
     */
    public static void writePageAligned(TfLiteFile model, Path file, LongConsumer progress)
            throws IOException {
        emit(layout(model, new FlatTableWriter(PAGE_BYTES)), file, progress);
    }

    private static void write(Layout layout, Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        Path folder = absolute.getParent();
        if (folder == null) {
            throw new TfLiteWriteException(file + ": not a place for a file");
        }
        Path temporary =
                folder.resolve("." + absolute.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            emit(layout, temporary, writtenBytes -> {});
            Files.move(temporary, absolute, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void emit(Layout layout, Path newFile, LongConsumer progress)
            throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        newFile, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            emit(
                    layout,
                    buffer -> {
                        writeFully(channel, buffer);
                        progress.accept(channel.position());
                    });
            channel.force(true);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(newFile);
            throw e;
        }
    }

    /**
     * Returns the file's content, in a new direct buffer from position 0.
     *
     * @throws TfLiteWriteException if the model has unsupported parts, or is too large
     */
    public static ByteBuffer toByteBuffer(TfLiteFile model) throws TfLiteWriteException {
        Layout layout = layout(model, new FlatTableWriter());
        ByteBuffer file =
                ByteBuffer.allocateDirect((int) layout.sizeBytes()).order(ByteOrder.LITTLE_ENDIAN);
        emit(layout, file::put);
        return file.flip();
    }

    private static Layout layout(TfLiteFile model, FlatTableWriter writer)
            throws TfLiteWriteException {
        if (!model.notCarried().isEmpty()) {
            throw new TfLiteWriteException(
                    "parts beyond the known schema would be lost: " + model.notCarried());
        }
        return writer.layout(Table.model(model), "TFL3");
    }

    private interface Sink<E extends Exception> {
        void put(ByteBuffer bytes) throws E;
    }

    private static <E extends Exception> void emit(Layout layout, Sink<E> sink) throws E {
        sink.put(layout.tables());
        long position = layout.tables().capacity();
        for (PlacedRaw raw : layout.raws()) {
            int gapBytes = (int) (raw.offsetBytes() - position);
            ByteBuffer gap = ByteBuffer.allocate(gapBytes).order(ByteOrder.LITTLE_ENDIAN);
            gap.putInt(gapBytes - Integer.BYTES, raw.length());
            sink.put(gap);
            int sizeBytes = raw.bytes().sizeBytes();
            for (int from = 0; from < sizeBytes; from += PIECE_BYTES) {
                sink.put(raw.bytes().read(from, Math.min(PIECE_BYTES, sizeBytes - from)));
            }
            position = raw.offsetBytes() + sizeBytes;
        }
        sink.put(ByteBuffer.allocate((int) (layout.sizeBytes() - position)));
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Converts a model to tables of the file. */
    private static final class Table {

        /** The largest number in the older field for an operator's code. */
        private static final int LARGEST_OLD_CODE = 127;

        private final String type;
        private final ImmutableMap.Builder<String, Object> fields = ImmutableMap.builder();

        private Table(String type) {
            this.type = type;
        }

        private Table set(String field, Object value) {
            fields.put(field, value);
            return this;
        }

        private Table setIndex(String field, int index) {
            return set(field, (long) index);
        }

        private Table setUnlessEmpty(String field, Object value) {
            Object empty = Schema.table(type).field(field).defaultValue();
            return value.equals(empty) ? this : set(field, value);
        }

        private Table setIfPresent(String field, Optional<FlatTable> table) {
            return table.isPresent() ? set(field, table.get()) : this;
        }

        private FlatTable build() {
            return new FlatTable(type, fields.buildOrThrow());
        }

        private static <T> ImmutableList<FlatTable> all(
                List<T> values, Function<T, FlatTable> toTable) {
            return values.stream().map(toTable).collect(ImmutableList.toImmutableList());
        }

        static FlatTable model(TfLiteFile file) {
            return new Table("Model")
                    .setIndex("version", TfLiteFile.SCHEMA_VERSION)
                    .set("operator_codes", all(file.operatorCodes(), Table::operatorCode))
                    .set("subgraphs", all(file.subgraphs(), Table::subgraph))
                    .setUnlessEmpty("description", file.description())
                    .set("buffers", all(file.buffers(), Table::buffer))
                    .setUnlessEmpty("metadata_buffer", file.metadataBuffers())
                    .setUnlessEmpty("metadata", all(file.metadata(), Table::metadata))
                    .setUnlessEmpty("signature_defs", all(file.signatures(), Table::signature))
                    .build();
        }

        private static FlatTable operatorCode(TfLiteOperatorCode code) {
            return new Table("OperatorCode")
                    .set("deprecated_builtin_code", Math.min(code.builtinCode(), LARGEST_OLD_CODE))
                    .setUnlessEmpty("custom_code", code.customCode())
                    .set("version", code.version())
                    .set("builtin_code", code.builtinCode())
                    .build();
        }

        private static FlatTable subgraph(TfLiteSubgraph subgraph) {
            return new Table("SubGraph")
                    .set("tensors", all(subgraph.tensors(), Table::tensor))
                    .set("inputs", subgraph.inputs())
                    .set("outputs", subgraph.outputs())
                    .set("operators", all(subgraph.operators(), Table::operator))
                    .setUnlessEmpty("name", subgraph.name())
                    .build();
        }

        private static FlatTable tensor(TfLiteTensor tensor) {
            return new Table("Tensor")
                    .set("shape", tensor.shape())
                    .set("type", tensor.typeCode())
                    .setIndex("buffer", tensor.buffer())
                    .setUnlessEmpty("name", tensor.name())
                    .setIfPresent("quantization", tensor.quantization().map(Table::quantization))
                    .set("is_variable", tensor.isVariable())
                    .setIfPresent("sparsity", tensor.sparsity())
                    .setUnlessEmpty("shape_signature", tensor.shapeSignature())
                    .set("has_rank", tensor.hasRank())
                    .build();
        }

        private static FlatTable quantization(TfLiteTensor.Quantization quantization) {
            return new Table("QuantizationParameters")
                    .setUnlessEmpty("min", quantization.min())
                    .setUnlessEmpty("max", quantization.max())
                    .setUnlessEmpty("scale", quantization.scale())
                    .setUnlessEmpty("zero_point", quantization.zeroPoint())
                    .setIfPresent("details", quantization.details())
                    .set("quantized_dimension", quantization.quantizedDimension())
                    .build();
        }

        private static FlatTable operator(TfLiteOperator operator) {
            return new Table("Operator")
                    .setIndex("opcode_index", operator.opcodeIndex())
                    .set("inputs", operator.inputs())
                    .set("outputs", operator.outputs())
                    .setIfPresent(optionsField(operator), operator.builtinOptions())
                    .setUnlessEmpty("custom_options", operator.customOptions())
                    .set("custom_options_format", operator.customOptionsFormat())
                    .setUnlessEmpty("mutating_variable_inputs", operator.mutatingVariableInputs())
                    .setUnlessEmpty("intermediates", operator.intermediates())
                    .build();
        }

        private static String optionsField(TfLiteOperator operator) {
            boolean later =
                    operator.builtinOptions()
                            .map(
                                    options ->
                                            Schema.union("BuiltinOptions2")
                                                    .contains(options.type()))
                            .orElse(false);
            return later ? "builtin_options_2" : "builtin_options";
        }

        private static FlatTable buffer(TfLiteBytes content) {
            return new Table("Buffer").setUnlessEmpty("data", content).build();
        }

        private static FlatTable metadata(TfLiteFile.Metadata metadata) {
            return new Table("Metadata")
                    .set("name", metadata.name())
                    .setIndex("buffer", metadata.buffer())
                    .build();
        }

        private static FlatTable signature(TfLiteFile.Signature signature) {
            return new Table("SignatureDef")
                    .set("inputs", all(signature.inputs(), Table::signatureEntry))
                    .set("outputs", all(signature.outputs(), Table::signatureEntry))
                    .setUnlessEmpty("signature_key", signature.key())
                    .setUnlessEmpty("deprecated_tag", signature.deprecatedTag())
                    .setIndex("subgraph_index", signature.subgraph())
                    .build();
        }

        private static FlatTable signatureEntry(TfLiteFile.Signature.Entry entry) {
            return new Table("TensorMap")
                    .set("name", entry.name())
                    .setIndex("tensor_index", entry.tensor())
                    .build();
        }
    }
}
