package org.djlplan.memplan.report;

/**
 * The memory of this process, as of now, by what it is for, in bytes. The parts add up to {@code
 * residentBytes}.
 *
 * @param residentBytes all that is in memory
 * @param heapBytes objects of Java, dead ones included until they are collected
 * @param jvmBytes the JVM's own: classes, compiled code
 * @param weightsBytes of this model, where they are in memory all the time and are no pages of a
 *     mapped file
 * @param arenasBytes planned arenas, of all models
 * @param kernelsBytes code that the engine made at run time, as oneDNN does for each shape: as many
 *     as {@code ONEDNN_PRIMITIVE_CACHE_CAPACITY} says (1,024 if it says nothing)
 * @param engineBytes what else native code has allocated: the engine's caches and structures,
 *     arrays in use, weights of other models
 * @param keptBytes what the C library keeps of what was freed
 * @param filesBytes pages of mapped files: libraries, models
 * @param restBytes stacks of threads, heap of Java that holds no object, and all that was not told
 *     exactly; negative where parts were told too high
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
                + ", rest "
                + megabytes(restBytes);
    }

    private static double megabytes(long bytes) {
        return Math.round(bytes / MEGA * 10) / 10.0;
    }
}
