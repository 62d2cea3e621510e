package org.djlplan.memplan.internal.report;

import org.djlplan.memplan.report.MemoryReport;

/** The implementation of {@link MemoryReport}. */
public record MemoryReportRecord(
        long residentBytes,
        long heapBytes,
        long jvmBytes,
        long weightsBytes,
        long arenasBytes,
        long kernelsBytes,
        long engineBytes,
        long keptBytes,
        long filesBytes,
        long restBytes)
        implements MemoryReport {

    private static final double MEGA = 1e6;

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
