package org.djlplan.memplan.source.tflite;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a table that is not trusted has its fields.
 *
 * <p>Layout: the table begins with the distance back to its vtable; the vtable holds its own size,
 * the table's size, and for each slot the distance of the field from the table's begin, 0 if it is
 * not stored.
 */
final class CheckedSlots {

    private static final int VTABLE_HEAD_BYTES = 4;
    private static final int SLOT_BYTES = 2;
    private static final int SMALLEST_TABLE_BYTES = 4;

    private final CheckedBuffer buffer;
    private final TreePath path;
    private final int table;
    private final int tableBytes;
    private final int vtable;
    private final int storedSlots;

    CheckedSlots(CheckedBuffer buffer, int table, TreePath path) throws TfLiteFormatException {
        this.buffer = buffer;
        this.path = path;
        this.table = table;
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
    }

    /** Returns where the table begins. */
    int table() {
        return table;
    }

    /**
     * Returns where the value of a slot lies in the file, 0 if it is not stored.
     *
     * @param bytes size of the value, which lies inside the table
     */
    int position(int slot, int bytes, TreePath fieldPath) throws TfLiteFormatException {
        if (slot >= storedSlots) {
            return 0;
        }
        int distance = distance(slot);
        if (distance == 0) {
            return 0;
        }
        if (distance < SMALLEST_TABLE_BYTES || distance + bytes > tableBytes) {
            throw buffer.error(table, fieldPath, "a field outside of its table");
        }
        return table + distance;
    }

    /** Returns the slots from a first one on that are stored. */
    List<Integer> storedFrom(int first) throws TfLiteFormatException {
        List<Integer> stored = new ArrayList<>();
        buffer.spend((long) SLOT_BYTES * Math.max(0, storedSlots - first), vtable, path);
        for (int slot = first; slot < storedSlots; slot++) {
            if (distance(slot) != 0) {
                stored.add(slot);
            }
        }
        return stored;
    }

    private int distance(int slot) throws TfLiteFormatException {
        return buffer.uint16(vtable + VTABLE_HEAD_BYTES + (long) SLOT_BYTES * slot, path);
    }
}
