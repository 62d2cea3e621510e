package org.djlplan.cli;

import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.runtime.ProcessMemory;

/**
 * The resident set of this process when its engine is initialized and when the model is loaded, and
 * the peak since each of these moments. Figures are absent if the system does not report them.
 */
final class ResidentSet {

    private final ProcessMemory memory = new ProcessMemory();
    private final OptionalLong idleBytes;
    private boolean peaksKnown;
    private OptionalLong loadPeakBytes = OptionalLong.empty();
    private OptionalLong loadedBytes = OptionalLong.empty();

    private ResidentSet() {
        peaksKnown = memory.resetPeak();
        idleBytes = memory.residentBytes();
    }

    /**
     * Peaks of the resident set in bytes.
     *
     * @param bytes since the engine was initialized
     * @param aboveIdleBytes the same, minus the resident bytes at that moment
     * @param aboveLoadedBytes since the model was loaded, minus the resident bytes at that moment
     */
    record Peaks(long bytes, long aboveIdleBytes, long aboveLoadedBytes) {}

    /** Records the resident set of this process, whose engine is initialized. */
    static ResidentSet ofIdleProcess() {
        return new ResidentSet();
    }

    /** Records that the model is loaded: the resident set now, and the peak until now. */
    void recordLoaded() {
        loadPeakBytes = memory.peakBytes();
        peaksKnown = peaksKnown && memory.resetPeak();
        loadedBytes = memory.residentBytes();
    }

    /** Returns by how many bytes the process has grown since it was idle. */
    OptionalLong grownBytes() {
        OptionalLong now = memory.residentBytes();
        return now.isPresent() && idleBytes.isPresent()
                ? OptionalLong.of(Math.max(0, now.getAsLong() - idleBytes.getAsLong()))
                : OptionalLong.empty();
    }

    /** Returns the peaks so far; empty if no model was loaded, or they are not known. */
    Optional<Peaks> peaks() {
        OptionalLong peak = memory.peakBytes();
        if (!peaksKnown
                || peak.isEmpty()
                || idleBytes.isEmpty()
                || loadedBytes.isEmpty()
                || loadPeakBytes.isEmpty()) {
            return Optional.empty();
        }
        long highest = Math.max(peak.getAsLong(), loadPeakBytes.getAsLong());
        return Optional.of(
                new Peaks(
                        highest,
                        Math.max(0, highest - idleBytes.getAsLong()),
                        Math.max(0, peak.getAsLong() - loadedBytes.getAsLong())));
    }
}
