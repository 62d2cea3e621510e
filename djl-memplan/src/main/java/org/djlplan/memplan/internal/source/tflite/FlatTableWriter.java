package org.djlplan.memplan.internal.source.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.source.tflite.Schema.Field;
import org.djlplan.memplan.internal.source.tflite.Schema.Kind;
import org.djlplan.thirdparty.flatbuffers.FlatBufferBuilder;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Lists;

/**
 * Lays tables out as a flatbuffer. Only the tables are built in memory; raw vectors, which are
 * nearly all of a model, follow the tables and are never copied:
 *
 * <pre>
 *   | root, identifier | tables, vectors, strings | length, bytes | length, bytes | ...
 *                          └── offset ──────────────►┘
 * </pre>
 *
 * <p>With page alignment, raw vectors of a page or more come last. Each starts at a page boundary.
 * Its pages hold nothing else, except that the last four bytes may be the length of the next
 * vector. The file ends at a page boundary.
 */
final class FlatTableWriter {

    private static final int LENGTH_BYTES = 4;

    private final int pageBytes;

    private final FlatBufferBuilder builder = new FlatBufferBuilder();
    private final List<PendingRaw> pending = new ArrayList<>();

    /** Creates a writer without page alignment. */
    FlatTableWriter() {
        this(1);
    }

    /**
     * @param pageBytes size of a page; 1 for no alignment
     */
    FlatTableWriter(int pageBytes) {
        this.pageBytes = pageBytes;
    }

    /** A raw vector that follows the tables; {@code table} is relative to the end of the tables. */
    private record PendingRaw(int table, Field field, TfLiteBytes bytes) {}

    /**
     * A raw vector with the position of its bytes in the file; its length precedes them.
     *
     * @param length number of elements
     */
    record PlacedRaw(long offsetBytes, int length, TfLiteBytes bytes) {}

    /**
     * The parts of a file.
     *
     * @param tables the file's head, little-endian
     * @param raws the following vectors, in order of the offsets
     * @param sizeBytes size of the file
     */
    record Layout(ByteBuffer tables, List<PlacedRaw> raws, long sizeBytes) {}

    /**
     * Returns the layout of a file with a root table and a four-letter identifier.
     *
     * @throws TfLiteWriteException if the file would have 2 GiB or more
     */
    Layout layout(FlatTable root, String identifier) throws TfLiteWriteException {
        builder.forceDefaults(true);
        builder.finish(write(root), identifier);
        ByteBuffer tables = builder.dataBuffer().slice().order(ByteOrder.LITTLE_ENDIAN);
        ImmutableList.Builder<PlacedRaw> raws = ImmutableList.builder();
        long end = tables.capacity();
        List<PendingRaw> inOrder = new ArrayList<>(pending);
        inOrder.sort(Comparator.comparing(this::hasPages));
        for (PendingRaw raw : inOrder) {
            int alignment =
                    hasPages(raw)
                            ? pageBytes
                            : Math.max(raw.field().alignmentBytes(), LENGTH_BYTES);
            long begin = roundUp(end + LENGTH_BYTES, alignment);
            int length = raw.bytes().sizeBytes() / raw.field().elementBytes();
            raws.add(new PlacedRaw(begin, length, raw.bytes()));
            end = begin + raw.bytes().sizeBytes();
            if (end > Integer.MAX_VALUE) {
                throw new TfLiteWriteException("larger than 2 GiB, where flatbuffers end");
            }
            point(tables, raw, (int) begin - LENGTH_BYTES);
        }
        return new Layout(tables, raws.build(), roundUp(end, pageBytes));
    }

    private boolean hasPages(PendingRaw raw) {
        return pageBytes > 1 && raw.bytes().sizeBytes() >= pageBytes;
    }

    private static long roundUp(long value, int multiple) {
        return (value + multiple - 1) / multiple * multiple;
    }

    private static void point(ByteBuffer tables, PendingRaw raw, int target) {
        int table = tables.capacity() - raw.table();
        int vtable = table - tables.getInt(table);
        int field = table + tables.getShort(vtable + 4 + 2 * raw.field().slot());
        tables.putInt(field, target - field);
    }

    private int write(FlatTable table) {
        Schema.TableType type = Schema.table(table.type());
        Map<Field, Integer> references = new LinkedHashMap<>();
        for (Field field : type.fields().values()) {
            Object value = table.fields().get(field.name());
            if (value != null && (field.vector() || isReference(field.kind()))) {
                references.put(field, writeReference(field, value));
            }
        }
        builder.startTable(type.slots());
        for (Field field : type.fields().values()) {
            Object value = table.fields().get(field.name());
            if (references.containsKey(field)) {
                addReference(field, value, references.get(field));
            } else if (value != null) {
                putElement(field.kind(), value);
                builder.slot(field.slot());
            }
        }
        int offset = builder.endTable();
        table.fields()
                .forEach(
                        (name, value) -> {
                            if (value instanceof TfLiteBytes bytes) {
                                pending.add(new PendingRaw(offset, type.field(name), bytes));
                            }
                        });
        return offset;
    }

    private static boolean isReference(Kind kind) {
        return kind == Kind.STRING || kind == Kind.TABLE || kind == Kind.UNION;
    }

    private int writeReference(Field field, Object value) {
        if (field.vector()) {
            return writeVector(field, (List<?>) value);
        }
        return value instanceof String text ? builder.createString(text) : write((FlatTable) value);
    }

    private int writeVector(Field field, List<?> values) {
        if (isReference(field.kind())) {
            int[] offsets = new int[values.size()];
            for (int i = 0; i < offsets.length; i++) {
                Object value = values.get(i);
                offsets[i] =
                        value instanceof String text
                                ? builder.createString(text)
                                : write((FlatTable) value);
            }
            return builder.createVectorOfTables(offsets);
        }
        int bytes = field.kind().bytes;
        builder.startVector(bytes, values.size(), bytes);
        for (Object value : Lists.reverse(values)) {
            putElement(field.kind(), value);
        }
        return builder.endVector();
    }

    private void putElement(Kind kind, Object value) {
        switch (kind) {
            case BOOL -> builder.addBoolean((Boolean) value);
            case BYTE -> builder.addByte(((Integer) value).byteValue());
            case INT -> builder.addInt((Integer) value);
            case UINT -> builder.addInt(((Long) value).intValue());
            case LONG -> builder.addLong((Long) value);
            case FLOAT -> builder.addFloat((Float) value);
            case RAW -> builder.addInt(0); // replaced by an offset at the end
            case STRING, TABLE, UNION -> throw new AssertionError(kind);
        }
    }

    private void addReference(Field field, Object value, int reference) {
        if (field.kind() == Kind.UNION) {
            int member = Schema.union(field.target()).indexOf(((FlatTable) value).type()) + 1;
            builder.addByte(field.slot(), (byte) member, 0);
            builder.addOffset(field.slot() + 1, reference, 0);
        } else {
            builder.addOffset(field.slot(), reference, 0);
        }
    }
}
