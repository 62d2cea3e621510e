package org.djlplan.memplan.internal.source.tflite;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Reads {@code .tflite} files and validates everything. Constants are not copied: they are views of
 * the mapped file, which stays mapped as long as one of them is reachable.
 *
 * <p>For a file that cannot be planned it throws {@link TfLiteFormatException} and nothing else;
 * time and memory are proportional to the file's size.
 */
public final class TfLiteReader {

    private static final String IDENTIFIER = "TFL3";
    private static final int HEAD_BYTES = 8;

    private final CheckedBuffer buffer;

    private TfLiteReader(CheckedBuffer buffer) {
        this.buffer = buffer;
    }

    /**
     * Maps and reads a file.
     *
     * @throws TfLiteFormatException if it is not a readable {@code .tflite} file of less than 2 GiB
     */
    public static TfLiteFile read(Path file) throws TfLiteFormatException {
        ByteBuffer mapped;
        try {
            if (!Files.isRegularFile(file)) {
                String what = Files.exists(file) ? "not a regular file" : "no such file";
                throw new TfLiteFormatException(file + ": " + what);
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                if (channel.size() > Integer.MAX_VALUE) {
                    throw new TfLiteFormatException(
                            file + ": " + channel.size() + " bytes, flatbuffers end at 2 GiB");
                }
                mapped = channel.map(MapMode.READ_ONLY, 0, channel.size());
            }
        } catch (TfLiteFormatException e) {
            throw e;
        } catch (IOException | SecurityException | UnsupportedOperationException e) {
            throw new TfLiteFormatException(file + ": cannot be read: " + e.getMessage(), e);
        }
        return read(mapped, file.toString());
    }

    /**
     * Reads a file in memory, from the buffer's position to its limit; offsets are relative to the
     * position. The buffer's content must not change afterwards.
     *
     * @param name of the file in messages
     * @throws TfLiteFormatException if it is not a {@code .tflite} file
     */
    public static TfLiteFile read(ByteBuffer file, String name) throws TfLiteFormatException {
        CheckedBuffer buffer = new CheckedBuffer(file, name);
        try {
            TfLiteFile read = new TfLiteReader(buffer).file(root(buffer));
            OperatorRules.check(read);
            return read;
        } catch (InvalidModelException e) {
            CheckedBuffer again = new CheckedBuffer(file, name);
            List<String> steps =
                    Splitter.onPattern("[.\\[\\]]+").omitEmptyStrings().splitToList(e.path());
            String message = again.message(root(again).locate(steps), e.path(), e.problem());
            throw new TfLiteFormatException(message, e);
        }
    }

    private static CheckedTable root(CheckedBuffer buffer) throws TfLiteFormatException {
        if (buffer.sizeBytes() < HEAD_BYTES) {
            throw buffer.error(
                    0, TreePath.ROOT, buffer.sizeBytes() + " bytes are too few for a model");
        }
        String identifier =
                StandardCharsets.ISO_8859_1.decode(buffer.window(4, 4).buffer()).toString();
        if (!identifier.equals(IDENTIFIER)) {
            throw buffer.error(4, TreePath.ROOT, "not a .tflite file: no identifier " + IDENTIFIER);
        }
        return new CheckedTable(buffer, "Model", buffer.follow(0, TreePath.ROOT), TreePath.ROOT);
    }

    private TfLiteFile file(CheckedTable model) throws TfLiteFormatException {
        int version = model.index("version");
        if (version != TfLiteFile.SCHEMA_VERSION) {
            throw buffer.error(
                    model.locate(List.of("version")),
                    TreePath.ROOT.field("version"),
                    "schema version " + version + ", only 3 is known");
        }
        return new TfLiteFile(
                model.string("description"),
                model.tables("operator_codes", TfLiteReader::operatorCode),
                model.tables("subgraphs", TfLiteReader::subgraph),
                model.tables("buffers", table -> table.bytes("data")),
                model.list("metadata_buffer", Integer.class),
                model.tables("metadata", TfLiteReader::metadata),
                model.tables("signature_defs", TfLiteReader::signature),
                buffer.notCarried());
    }

    private static TfLiteOperatorCode operatorCode(CheckedTable table)
            throws TfLiteFormatException {
        // Old files have only the first number, which is limited to 127.
        int code =
                Math.max(table.intValue("deprecated_builtin_code"), table.intValue("builtin_code"));
        return new TfLiteOperatorCode(code, table.string("custom_code"), table.intValue("version"));
    }

    private static TfLiteSubgraph subgraph(CheckedTable table) throws TfLiteFormatException {
        return new TfLiteSubgraph(
                table.string("name"),
                table.tables("tensors", TfLiteReader::tensor),
                ints(table, "inputs"),
                ints(table, "outputs"),
                table.tables("operators", TfLiteReader::operator));
    }

    private static TfLiteTensor tensor(CheckedTable table) throws TfLiteFormatException {
        Optional<CheckedTable> quantization = table.table("quantization");
        return new TfLiteTensor(
                ints(table, "shape"),
                ints(table, "shape_signature"),
                table.intValue("type"),
                table.index("buffer"),
                table.string("name"),
                quantization.isPresent()
                        ? Optional.of(quantization(quantization.get()))
                        : Optional.empty(),
                table.boolValue("is_variable"),
                table.flatTable("sparsity"),
                table.boolValue("has_rank"));
    }

    private static TfLiteTensor.Quantization quantization(CheckedTable table)
            throws TfLiteFormatException {
        return new TfLiteTensor.Quantization(
                table.list("min", Float.class),
                table.list("max", Float.class),
                table.list("scale", Float.class),
                table.list("zero_point", Long.class),
                table.flatTable("details"),
                table.intValue("quantized_dimension"));
    }

    private static TfLiteOperator operator(CheckedTable table) throws TfLiteFormatException {
        table.leaveOut("large_custom_options_offset");
        table.leaveOut("large_custom_options_size");
        Optional<FlatTable> options = table.flatTable("builtin_options");
        if (options.isEmpty()) {
            options = table.flatTable("builtin_options_2");
        } else {
            table.leaveOut("builtin_options_2");
        }
        return new TfLiteOperator(
                table.index("opcode_index"),
                ints(table, "inputs"),
                ints(table, "outputs"),
                options,
                table.bytes("custom_options"),
                table.intValue("custom_options_format"),
                table.list("mutating_variable_inputs", Boolean.class),
                ints(table, "intermediates"));
    }

    private static TfLiteFile.Metadata metadata(CheckedTable table) throws TfLiteFormatException {
        return new TfLiteFile.Metadata(table.string("name"), table.index("buffer"));
    }

    private static TfLiteFile.Signature signature(CheckedTable table) throws TfLiteFormatException {
        return new TfLiteFile.Signature(
                table.tables("inputs", TfLiteReader::signatureEntry),
                table.tables("outputs", TfLiteReader::signatureEntry),
                table.string("signature_key"),
                table.string("deprecated_tag"),
                table.index("subgraph_index"));
    }

    private static TfLiteFile.Signature.Entry signatureEntry(CheckedTable table)
            throws TfLiteFormatException {
        return new TfLiteFile.Signature.Entry(table.string("name"), table.index("tensor_index"));
    }

    private static ImmutableList<Integer> ints(CheckedTable table, String field)
            throws TfLiteFormatException {
        return table.list(field, Integer.class);
    }
}
