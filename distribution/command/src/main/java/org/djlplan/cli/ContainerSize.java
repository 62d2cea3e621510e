package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
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
        checkArgument(
                runtimeBytes >= 0 && heapBytes > 0 && modelBytes >= 0 && limitBytes % MIB == 0,
                "%s, %s, %s, %s",
                runtimeBytes,
                heapBytes,
                modelBytes,
                limitBytes);
    }

    /** Returns the size including a reserve of a twentieth of it. */
    static ContainerSize of(long runtimeBytes, long heapBytes, long modelBytes) {
        long bytes = runtimeBytes + heapBytes + modelBytes;
        return new ContainerSize(
                runtimeBytes, heapBytes, modelBytes, wholeMiB(bytes + bytes / RESERVE));
    }

    /** Returns a size larger by a twentieth. */
    ContainerSize larger() {
        return new ContainerSize(
                runtimeBytes, heapBytes, modelBytes, wholeMiB(limitBytes + limitBytes / RESERVE));
    }

    private static long wholeMiB(long bytes) {
        return mebibytes(bytes) * MIB;
    }

    private static long mebibytes(long bytes) {
        return (bytes + MIB - 1) / MIB;
    }

    /** Returns the memory limit of a Kubernetes container. */
    String kubernetes() {
        return mebibytes(limitBytes) + "Mi";
    }

    /** Returns the JVM's option that sets the heap. */
    String heap() {
        return "-Xmx" + mebibytes(heapBytes) + "m";
    }

    /**
     * Returns the JVM's option that results in the same heap by default; empty for small heaps,
     * because with little memory a JVM takes a larger part of it.
     */
    Optional<String> maxRam() {
        return heapBytes < LEAST_PART_BYTES
                ? Optional.empty()
                : Optional.of("-XX:MaxRAM=" + HEAP_PART * mebibytes(heapBytes) + "m");
    }

    /** Returns Spark's {@code spark.executor.memoryOverhead}: everything except the heap. */
    String sparkOverhead() {
        return mebibytes(limitBytes - heapBytes) + "m";
    }

    /**
     * Returns djl-serving's {@code required_memory_mb}: the memory that the model adds to the
     * process.
     */
    long requiredMebibytes() {
        return mebibytes(modelBytes + modelBytes / RESERVE);
    }

    JsonObject toJson() {
        JsonObject json = new JsonObject();
        json.addProperty("runtimeBytes", runtimeBytes);
        json.addProperty("heapBytes", heapBytes);
        json.addProperty("modelBytes", modelBytes);
        json.addProperty("limitBytes", limitBytes);
        json.addProperty("kubernetesLimit", kubernetes());
        json.addProperty("heapOption", heap());
        json.add(
                "maxRamOption",
                maxRam().<JsonElement>map(JsonPrimitive::new).orElse(JsonNull.INSTANCE));
        json.addProperty("sparkMemoryOverhead", sparkOverhead());
        json.addProperty("requiredMemoryMb", requiredMebibytes());
        return json;
    }
}
