package org.djlplan.memplan.report;

/**
 * The current memory of this process by purpose, in bytes. The parts add up to {@link
 * #residentBytes}.
 */
public interface MemoryReport {

    /** Returns the resident set. */
    long residentBytes();

    /** Returns the Java objects, including dead ones until they are collected. */
    long heapBytes();

    /** Returns the memory of the JVM itself: classes, compiled code. */
    long jvmBytes();

    /**
     * Returns the weights of this model, if they stay in memory and are not pages of a mapped file.
     */
    long weightsBytes();

    /** Returns the arenas of predictions and of outputs, of all models. */
    long arenasBytes();

    /**
     * Returns the code that the engine generated at run time, as oneDNN does for each shape; {@code
     * ONEDNN_PRIMITIVE_CACHE_CAPACITY} limits the number of kernels (default 1,024).
     */
    long kernelsBytes();

    /**
     * Returns other allocations of native code: the engine's caches and structures, arrays in use,
     * weights of other models.
     */
    long engineBytes();

    /** Returns the freed memory that the C library keeps. */
    long keptBytes();

    /** Returns the pages of mapped files: libraries, models. */
    long filesBytes();

    /**
     * Returns the stacks of threads, and Java heap without objects, minus pages of the other parts
     * that are not in memory, so it may be negative.
     */
    long restBytes();

    /** Returns one line for people. */
    @Override
    String toString();
}
