package org.djlplan.memplan.graph;

/** The type of a tensor's elements. */
public enum ElementType {
    FLOAT16(2),
    FLOAT32(4),
    FLOAT64(8),
    INT4(0),
    INT8(1),
    INT16(2),
    INT32(4),
    INT64(8),
    UINT8(1),
    UINT16(2),
    UINT32(4),
    UINT64(8),
    BOOL(1),
    COMPLEX64(8),
    COMPLEX128(16),
    /** Any number of bytes: no fixed size. */
    STRING(0),
    /** Resources, variants and types unknown to this version: no fixed size. */
    OPAQUE(0);

    private final int bytes;

    ElementType(int bytes) {
        this.bytes = bytes;
    }

    /** Returns the bytes of one element, or 0 if elements have no size in whole bytes. */
    public int bytes() {
        return bytes;
    }
}
