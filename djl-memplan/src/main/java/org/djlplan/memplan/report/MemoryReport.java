package org.djlplan.memplan.report;

/**
 * The current memory of this process by purpose, in bytes. The parts add up to {@code
 * residentBytes}.
 *
 * @param residentBytes the resident set
 * @param heapBytes the Java objects, including dead ones until they are collected
 * @param jvmBytes the memory of the JVM itself: classes, compiled code
 * @param weightsBytes the weights of this model, if they stay in memory and are not pages of a
 *     mapped file
 * @param arenasBytes the arenas of predictions and of outputs, of all models
 * @param kernelsBytes the code that the engine generated at run time, as oneDNN does for each
 *     shape; {@code ONEDNN_PRIMITIVE_CACHE_CAPACITY} limits the number of kernels (default 1,024)
 * @param engineBytes other allocations of native code: the engine's caches and structures, arrays
 *     in use, weights of other models
 * @param keptBytes the freed memory that the C library keeps
 * @param filesBytes the pages of mapped files: libraries, models
 * @param restBytes the stacks of threads, and Java heap without objects, minus pages of the other
 *     parts that are not in memory, so it may be negative
 */
public record MemoryReport(
        long residentBytes,
        long heapBytes,
        long jvmBytes,
        long weightsBytes,
        long arenasBytes,
        long kernelsBytes,
        long engineBytes,
        long keptBytes,
        long filesBytes,
        long restBytes) {

    private static final double MEGA = 1e6;

    /** Returns one line for people. */
    @Override
    public String toString() {
        return megabytes(residentBytes)
                + " MB in memory: Java's heap "
                + megabytes(heapBytes)
                + ", JVM "
                + megabytes(jvmBytes)
                + ", weights "
                + megabytes(weightsBytes)
                + ", arenas "
                + megabytes(arenasBytes)
                + ", the engine's kernels "
                + megabytes(kernelsBytes)
                + ", the engine's other memory "
                + megabytes(engineBytes)
                + ", freed and kept "
                + megabytes(keptBytes)
                + ", files "
                + megabytes(filesBytes)
                + (restBytes < 0
                        ? "; " + megabytes(-restBytes) + " MB of these parts are not in memory"
                        : ", rest " + megabytes(restBytes));
    }

    private static double megabytes(long bytes) {
        return Math.round(bytes / MEGA * 10) / 10.0;
    }
}
