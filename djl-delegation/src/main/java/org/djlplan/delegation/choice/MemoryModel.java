package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.delegation.partition.Unit;

/**
 * What a union of units takes of memory: what the CPU kernels take, and something for each unit
 * (packed weights, less what the arena no longer holds) and each delegate kernel (a workspace).
 *
 * <p>How much that is, measured unions tell: beginning with nothing, the difference between
 * measured and predicted is shared out over the units and kernels of that union, in proportion to
 * the bytes they have to do with; over and over for all of them (Kaczmarz 1937). So the model
 * agrees with what was measured, and is near it for similar unions.
 */
public final class MemoryModel {

    private static final int SWEEPS = 50;

    private record Measurement(Set<Integer> union, int kernels, long bytes) {}

    private final long cpuBytes;
    private final double[] sizes;
    private final double[] bytes;
    private final List<Measurement> measured = new ArrayList<>();

    /**
     * @param units of the graph
     * @param cpuBytes measured when nothing is delegated
     */
    public MemoryModel(List<Unit> units, long cpuBytes) {
        checkArgument(cpuBytes >= 0, "cpuBytes: %s", cpuBytes);
        this.cpuBytes = cpuBytes;
        // The last place is that of a delegate kernel.
        sizes = new double[units.size() + 1];
        for (int i = 0; i < units.size(); i++) {
            sizes[i] = 1.0 + units.get(i).weightBytes() + units.get(i).crossingBytes();
        }
        sizes[units.size()] = Arrays.stream(sizes).sum() / sizes.length / 2;
        bytes = new double[sizes.length];
    }

    /** Learns what a union took. */
    public void measured(Set<Integer> union, int kernels, long unionBytes) {
        if (union.isEmpty()) {
            return;
        }
        measured.add(new Measurement(Set.copyOf(union), kernels, unionBytes));
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            measured.forEach(this::agree);
        }
    }

    private void agree(Measurement m) {
        double missing = m.bytes - bytes(m.union, m.kernels);
        int last = sizes.length - 1;
        double norm = sizes[last] * m.kernels * m.kernels;
        norm += m.union.stream().mapToDouble(unit -> sizes[unit]).sum();
        for (int unit : m.union) {
            bytes[unit] += missing * sizes[unit] / norm;
        }
        bytes[last] += missing * sizes[last] * m.kernels / norm;
    }

    /** Returns what a union of units is predicted to take, not less than nothing. */
    public double bytes(Set<Integer> union, int kernels) {
        double ofUnits =
                IntStream.range(0, bytes.length - 1)
                        .filter(union::contains)
                        .mapToDouble(unit -> bytes[unit])
                        .sum();
        return Math.max(0, cpuBytes + ofUnits + kernels * bytes[bytes.length - 1]);
    }
}
