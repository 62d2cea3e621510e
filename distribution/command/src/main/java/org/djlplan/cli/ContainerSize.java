package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Optional;

/**
 * The memory that a container needs to serve a model, and the corresponding settings of platforms.
 *
 * @param runtimeBytes the idle process without its heap: JVM, DJL and engine
 * @param heapBytes the heap
 * @param modelBytes peak of the model above the idle process, with all predictions at once
 * @param limitBytes memory limit of the container, in whole MiB
 */
record ContainerSize(long runtimeBytes, long heapBytes, long modelBytes, long limitBytes) {

    private static final long MIB = 1L << 20;

    /** Denominator of the reserve: a twentieth stays free. */
    private static final int RESERVE = 20;

    /** Denominator of the fraction of its memory that a JVM takes for its heap by default. */
    private static final int HEAP_PART = 4;

    /** The smallest heap that is this part; with less memory it is up to a half (JDK 17). */
    private static final long LEAST_PART_BYTES = 128 * MIB;

    ContainerSize {
        checkArgument(heapBytes > 0, "a heap of %s bytes", heapBytes);
    }

    /** Returns the size including a reserve of a twentieth of it. */
    static ContainerSize of(long runtimeBytes, long heapBytes, long modelBytes) {
        return new ContainerSize(
                        runtimeBytes, heapBytes, modelBytes, runtimeBytes + heapBytes + modelBytes)
                .larger();
    }

    /** Returns a size larger by a twentieth, in whole MiB. */
    ContainerSize larger() {
        long bytes = MIB * mebibytes(limitBytes + limitBytes / RESERVE);
        return new ContainerSize(runtimeBytes, heapBytes, modelBytes, bytes);
    }

    private static long mebibytes(long bytes) {
        return (bytes + MIB - 1) / MIB;
    }

    /**
     * The settings of platforms.
     *
     * @param kubernetesLimit memory limit of a Kubernetes container
     * @param heapOption the JVM's option that sets the heap
     * @param maxRamOption the JVM's option that results in the same heap by default; empty for
     *     small heaps, because with little memory a JVM takes a larger part of it
     * @param sparkMemoryOverhead Spark's {@code spark.executor.memoryOverhead}: everything except
     *     the heap
     * @param requiredMemoryMb djl-serving's {@code required_memory_mb}: the memory that the model
     *     adds to the process
     */
    record Settings(
            String kubernetesLimit,
            String heapOption,
            Optional<String> maxRamOption,
            String sparkMemoryOverhead,
            long requiredMemoryMb) {

        /** Returns the JVM's options for the heap, for people. */
        String heap() {
            return heapOption
                    + maxRamOption
                            .map(
                                    option ->
                                            ", or %s, of which a JVM takes a quarter; with neither"
                                                            .formatted(option)
                                                    + " it takes a quarter of the container")
                            .orElse("; without it a JVM takes at least a quarter of the container");
        }
    }

    Settings settings() {
        return new Settings(
                mebibytes(limitBytes) + "Mi",
                "-Xmx" + mebibytes(heapBytes) + "m",
                heapBytes < LEAST_PART_BYTES
                        ? Optional.empty()
                        : Optional.of("-XX:MaxRAM=" + HEAP_PART * mebibytes(heapBytes) + "m"),
                mebibytes(limitBytes - heapBytes) + "m",
                mebibytes(modelBytes + modelBytes / RESERVE));
    }
}
