package org.djlplan.memplan.internal.source.tflite;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.Schema.Field;
import org.djlplan.memplan.internal.source.tflite.Schema.Kind;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A cursor on one table of an untrusted file; fields are accessed by their names in the schema. No
 * table of the schema contains itself, so traversing its fields always ends.
 *
 * <p>Layout: the table begins with the distance back to its vtable; the vtable contains its own
 * size, the table's size, and for each slot the distance of the field from the table's beginning, 0
 * if the field is not stored.
 */
final class CheckedTable {

    private static final int VTABLE_HEAD_BYTES = 4;
    private static final int SLOT_BYTES = 2;
    private static final int SMALLEST_TABLE_BYTES = 4;

    private final CheckedBuffer buffer;
    private final Schema.TableType type;
    private final TreePath path;
    private final int table;
    private final int tableBytes;
    private final int vtable;
    private final int storedSlots;

    /** Converts an element of a vector of tables to a value. */
    interface Reader<T> {
        T read(CheckedTable table) throws TfLiteFormatException;
    }

    CheckedTable(CheckedBuffer buffer, String type, int position, TreePath path)
            throws TfLiteFormatException {
        this.buffer = buffer;
        this.type = Schema.table(type);
        this.path = path;
        this.table = position;
        long vtablePosition = (long) table - buffer.int32(table, path);
        int vtableBytes = buffer.uint16(vtablePosition, path);
        this.vtable = buffer.require(vtablePosition, vtableBytes, path);
        if (vtableBytes < VTABLE_HEAD_BYTES || vtableBytes % SLOT_BYTES != 0) {
            throw buffer.error(vtable, path, "a vtable of " + vtableBytes + " bytes");
        }
        this.tableBytes = buffer.uint16(vtablePosition + SLOT_BYTES, path);
        buffer.require(table, tableBytes, path);
        buffer.spend(Math.max(tableBytes, SMALLEST_TABLE_BYTES), table, path);
        this.storedSlots = (vtableBytes - VTABLE_HEAD_BYTES) / SLOT_BYTES;
        noteUnknownSlots();
    }

    /** Records slots that are not in the schema. */
    private void noteUnknownSlots() throws TfLiteFormatException {
        int first = type.slots();
        buffer.spend((long) SLOT_BYTES * Math.max(0, storedSlots - first), vtable, path);
        for (int slot = first; slot < storedSlots; slot++) {
            if (distance(slot) != 0) {
                buffer.doNotCarry(pathOf("slot_" + slot));
            }
        }
    }

    /** Records that a field is not read, if it is stored. */
    void leaveOut(String name) throws TfLiteFormatException {
        int slot = type.field(name).slot();
        if (slot < storedSlots && distance(slot) != 0) {
            buffer.doNotCarry(pathOf(name));
        }
    }

    private int distance(int slot) throws TfLiteFormatException {
        return buffer.uint16(vtable + VTABLE_HEAD_BYTES + (long) SLOT_BYTES * slot, path);
    }

    private TreePath pathOf(String field) {
        return path.field(field);
    }

    /**
     * Returns the position of a slot's value in the file, 0 if it is not stored.
     *
     * @param bytes size of the value, which must lie inside the table
     */
    private int slotPosition(Field field, int slot, int bytes) throws TfLiteFormatException {
        int distance = slot < storedSlots ? distance(slot) : 0;
        if (distance == 0) {
            return 0;
        }
        if (distance < SMALLEST_TABLE_BYTES || distance + bytes > tableBytes) {
            throw buffer.error(table, pathOf(field.name()), "a field outside of its table");
        }
        return table + distance;
    }

    private Optional<Object> value(String name) throws TfLiteFormatException {
        return value(type.field(name));
    }

    private Optional<Object> value(Field field) throws TfLiteFormatException {
        if (field.kind() == Kind.UNION) {
            return unionValue(field);
        }
        int bytes = field.vector() ? 4 : field.kind().bytes;
        int at = slotPosition(field, field.slot(), bytes);
        if (at == 0) {
            return Optional.empty();
        }
        if (field.vector() && field.kind() == Kind.TABLE) {
            return Optional.of(tables(field.name(), CheckedTable::toFlatTable));
        }
        TreePath fieldPath = pathOf(field.name());
        return Optional.of(
                field.vector()
                        ? vector(field, at, fieldPath)
                        : scalarOrReference(field, at, fieldPath));
    }

    private Object scalarOrReference(Field field, int at, TreePath fieldPath)
            throws TfLiteFormatException {
        return switch (field.kind()) {
            case BOOL -> buffer.int8(at, fieldPath) != 0;
            case BYTE -> (int) buffer.int8(at, fieldPath);
            case INT -> buffer.int32(at, fieldPath);
            case UINT -> buffer.uint32(at, fieldPath);
            case LONG -> buffer.int64(at, fieldPath);
            case FLOAT -> Float.intBitsToFloat(buffer.int32(at, fieldPath));
            case STRING -> buffer.string(buffer.follow(at, fieldPath), fieldPath);
            case RAW -> raw(field, buffer.follow(at, fieldPath), fieldPath);
            case TABLE, UNION ->
                    new CheckedTable(
                                    buffer, field.target(), buffer.follow(at, fieldPath), fieldPath)
                            .toFlatTable();
        };
    }

    private Optional<Object> unionValue(Field field) throws TfLiteFormatException {
        TreePath fieldPath = pathOf(field.name());
        int typeAt = slotPosition(field, field.slot(), 1);
        int member = typeAt == 0 ? 0 : Byte.toUnsignedInt(buffer.int8(typeAt, fieldPath));
        List<String> members = Schema.union(field.target());
        if (member > 0 && member <= members.size()) {
            String memberType = members.get(member - 1);
            Optional<CheckedTable> value = child(field, field.slot() + 1, memberType);
            return Optional.of(
                    value.isPresent() ? value.get().toFlatTable() : FlatTable.of(memberType));
        }
        if (member != 0 || slotPosition(field, field.slot() + 1, 4) != 0) {
            buffer.doNotCarry(fieldPath);
        }
        return Optional.empty();
    }

    private Optional<CheckedTable> child(Field field, int slot, String childType)
            throws TfLiteFormatException {
        int at = slotPosition(field, slot, 4);
        if (at == 0) {
            return Optional.empty();
        }
        TreePath fieldPath = pathOf(field.name());
        return Optional.of(
                new CheckedTable(buffer, childType, buffer.follow(at, fieldPath), fieldPath));
    }

    private ImmutableList<Object> vector(Field field, int reference, TreePath fieldPath)
            throws TfLiteFormatException {
        int elementBytes = field.kind().bytes;
        int at = buffer.follow(reference, fieldPath);
        int length = buffer.length(at, elementBytes, fieldPath);
        buffer.spend((long) length * elementBytes, at, fieldPath);
        ImmutableList.Builder<Object> values = ImmutableList.builderWithExpectedSize(length);
        for (int i = 0; i < length; i++) {
            values.add(scalarOrReference(field, at + 4 + i * elementBytes, fieldPath));
        }
        return values.build();
    }

    private TfLiteBytes raw(Field field, int at, TreePath fieldPath) throws TfLiteFormatException {
        int length = buffer.length(at, field.elementBytes(), fieldPath);
        return buffer.window(at + 4, length * field.elementBytes());
    }

    /** Returns a field of type byte or int. */
    int intValue(String field) throws TfLiteFormatException {
        return (Integer) value(field).orElse(type.field(field).defaultValue());
    }

    /** Returns a field of type uint, which must fit into an int. */
    int index(String field) throws TfLiteFormatException {
        long index = (Long) value(field).orElse(type.field(field).defaultValue());
        if (index > Integer.MAX_VALUE) {
            throw buffer.error(table, pathOf(field), index + " is too large for an index");
        }
        return (int) index;
    }

    boolean boolValue(String field) throws TfLiteFormatException {
        return (Boolean) value(field).orElse(type.field(field).defaultValue());
    }

    String string(String field) throws TfLiteFormatException {
        return (String) value(field).orElse("");
    }

    TfLiteBytes bytes(String field) throws TfLiteFormatException {
        return (TfLiteBytes) value(field).orElse(TfLiteBytes.EMPTY);
    }

    /** Returns a vector of scalars, empty if it is not stored. */
    <T> ImmutableList<T> list(String field, Class<T> elementClass) throws TfLiteFormatException {
        List<?> values = (List<?>) value(field).orElse(ImmutableList.of());
        ImmutableList.Builder<T> typed = ImmutableList.builderWithExpectedSize(values.size());
        for (Object value : values) {
            typed.add(elementClass.cast(value));
        }
        return typed.build();
    }

    /** Returns the table in a field of a table or union type. */
    Optional<FlatTable> flatTable(String field) throws TfLiteFormatException {
        return value(field).map(FlatTable.class::cast);
    }

    /** Returns a cursor on the table in a field. */
    Optional<CheckedTable> table(String name) throws TfLiteFormatException {
        Field field = type.field(name);
        return child(field, field.slot(), field.target());
    }

    /** Returns the elements of a vector of tables, empty if it is not stored. */
    <T> ImmutableList<T> tables(String name, Reader<T> reader) throws TfLiteFormatException {
        Field field = type.field(name);
        int at = slotPosition(field, field.slot(), 4);
        if (at == 0) {
            return ImmutableList.of();
        }
        int vector = buffer.follow(at, pathOf(name));
        int length = buffer.length(vector, 4, pathOf(name));
        buffer.spend(4L * length, vector, pathOf(name));
        List<T> values = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            values.add(reader.read(element(field, vector, i)));
        }
        return ImmutableList.copyOf(values);
    }

    private CheckedTable element(Field field, int vector, int index) throws TfLiteFormatException {
        TreePath elementPath = pathOf(field.name()).element(index);
        int target = buffer.follow(vector + 4L + 4L * index, elementPath);
        return new CheckedTable(buffer, field.target(), target, elementPath);
    }

    /** Returns the whole table, with all tables below it, as values. */
    FlatTable toFlatTable() throws TfLiteFormatException {
        ImmutableMap.Builder<String, Object> values = ImmutableMap.builder();
        for (Field field : type.fields().values()) {
            Optional<Object> value = value(field);
            if (value.isPresent()) {
                values.put(field.name(), value.get());
            }
        }
        return new FlatTable(type.name(), values.buildOrThrow());
    }

    /** Returns the file position of a path below this table, or of its nearest stored ancestor. */
    int locate(List<String> steps) throws TfLiteFormatException {
        if (steps.isEmpty()) {
            return table;
        }
        Field field = type.field(steps.get(0));
        int slot = field.kind() == Kind.UNION ? field.slot() + 1 : field.slot();
        int at = slotPosition(field, slot, 1);
        if (at == 0) {
            return table;
        }
        if (steps.size() == 1) {
            return at;
        }
        int target = buffer.follow(at, path);
        if (!field.vector()) {
            // Members of a union contain only scalars of one operator, so the position of the table
            // is precise enough.
            return field.kind() == Kind.TABLE
                    ? new CheckedTable(buffer, field.target(), target, path)
                            .locate(steps.subList(1, steps.size()))
                    : target;
        }
        int index = Integer.parseInt(steps.get(1));
        return field.kind() == Kind.TABLE
                ? element(field, target, index).locate(steps.subList(2, steps.size()))
                : target + 4 + index * field.kind().bytes;
    }
}
