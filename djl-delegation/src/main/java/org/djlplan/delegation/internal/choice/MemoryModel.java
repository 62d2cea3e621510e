package org.djlplan.delegation.internal.choice;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;

/**
 * A model of memory: a union of pieces takes the memory of the CPU kernels plus an amount for each
 * piece (packed weights minus the saved part of the arena) and each delegate kernel (a workspace).
 *
 * <p>The amounts are fitted to measured unions, starting with zero: the difference between measured
 * and predicted memory is distributed over the pieces and kernels of that union, in proportion to
 * their bytes, repeatedly for all unions (Kaczmarz 1937). So the model agrees with the
 * measurements, and is a good estimate for similar unions.
 */
public final class MemoryModel {

    private static final int SWEEPS = 50;

    private record Measurement(Set<Integer> union, int kernels, long bytes) {}

    private final long cpuBytes;
    private final double[] sizes;
    private final double[] bytes;
    private final List<Measurement> measured = new ArrayList<>();

    /**
     * @param pieces of the graph
     * @param cpuBytes measured when nothing is delegated
     */
    public MemoryModel(List<Piece> pieces, long cpuBytes) {
        checkArgument(cpuBytes >= 0, "cpuBytes: %s", cpuBytes);
        this.cpuBytes = cpuBytes;
        // The last element is that of a delegate kernel.
        sizes = new double[pieces.size() + 1];
        for (int i = 0; i < pieces.size(); i++) {
            sizes[i] = 1.0 + pieces.get(i).weightBytes() + pieces.get(i).crossingBytes();
        }
        sizes[pieces.size()] = Arrays.stream(sizes).sum() / sizes.length / 2;
        bytes = new double[sizes.length];
    }

    /** Adds the measurement of a union. */
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
        norm += m.union.stream().mapToDouble(piece -> sizes[piece]).sum();
        for (int piece : m.union) {
            bytes[piece] += missing * sizes[piece] / norm;
        }
        bytes[last] += missing * sizes[last] * m.kernels / norm;
    }

    /** Returns the predicted memory of a union of pieces, at least 0. */
    public double bytes(Set<Integer> union, int kernels) {
        double ofPieces =
                IntStream.range(0, bytes.length - 1)
                        .filter(union::contains)
                        .mapToDouble(piece -> bytes[piece])
                        .sum();
        return Math.max(0, cpuBytes + ofPieces + kernels * bytes[bytes.length - 1]);
    }
}
