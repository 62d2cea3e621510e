package org.djlplan.memplan.spi;

/** A delegate in native memory, for one interpreter. */
public interface NativeDelegate extends AutoCloseable {

    /** Returns the address of its {@code TfLiteDelegate}, as {@code getNativeHandle()} does. */
    long handle();

    /** Frees the delegate; called once, after its interpreter was freed. */
    @Override
    void close();
}
