package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.delegation.partition.Piece;

/**
 * A model of memory: a union of pieces takes what the CPU kernels take, and something for each
 * piece (packed weights, less what the arena no longer holds) and each delegate kernel (a
 * workspace).
 *
 * <p>How much that is, measured unions tell: beginning with nothing, the difference between
 * measured and predicted is shared out over the pieces and kernels of that union, in proportion to
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
     * @param pieces of the graph
     * @param cpuBytes measured when nothing is delegated
     */
    public MemoryModel(List<Piece> pieces, long cpuBytes) {
        checkArgument(cpuBytes >= 0, "cpuBytes: %s", cpuBytes);
        this.cpuBytes = cpuBytes;
        // The last place is that of a delegate kernel.
        sizes = new double[pieces.size() + 1];
        for (int i = 0; i < pieces.size(); i++) {
            sizes[i] = 1.0 + pieces.get(i).weightBytes() + pieces.get(i).crossingBytes();
        }
        sizes[pieces.size()] = Arrays.stream(sizes).sum() / sizes.length / 2;
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
        norm += m.union.stream().mapToDouble(piece -> sizes[piece]).sum();
        for (int piece : m.union) {
            bytes[piece] += missing * sizes[piece] / norm;
        }
        bytes[last] += missing * sizes[last] * m.kernels / norm;
    }

    /** Returns what a union of pieces is predicted to take, not less than nothing. */
    public double bytes(Set<Integer> union, int kernels) {
        double ofPieces =
                IntStream.range(0, bytes.length - 1)
                        .filter(union::contains)
                        .mapToDouble(piece -> bytes[piece])
                        .sum();
        return Math.max(0, cpuBytes + ofPieces + kernels * bytes[bytes.length - 1]);
    }
}
