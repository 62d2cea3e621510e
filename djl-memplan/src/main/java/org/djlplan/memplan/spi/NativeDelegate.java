package org.djlplan.memplan.spi;

/** A delegate that exists in native memory, for one interpreter. */
public interface NativeDelegate extends AutoCloseable {

    /** Returns the address of its {@code TfLiteDelegate}, as {@code getNativeHandle()} would. */
    long handle();

    /** Frees it; called once, after its interpreter is gone. */
    @Override
    void close();
}
