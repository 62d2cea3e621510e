package org.djlplan.memplan.internal.slicing;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Decides which layers to slice so that a model runs in an arena of a given size: only those that
 * would not fit, and into as few slices as possible (FlexNN 2024, section 4.2).
 *
 * <p>An operator needs memory for live tensors, its temporaries and its weights, and preferably for
 * the weights of the next operators, so that these are loaded while it runs. All sizes are computed
 * from the file alone. With one thread a convolution has the patches of its output rows as a
 * temporary; with more threads a filter is transposed, and the copy is read instead of the filter.
 *
 * <p>All decisions preserve bits. Layers that cannot be sliced in this way are left whole.
 */
public final class SlicePlanner {

    /**
     * Slices of channels are multiples of this, so that slices of a vector start at cache lines.
     */
    private static final int CHANNELS = 16;

    /** Time of an additional operator, as the number of bytes copied in that time. */
    private static final long OPERATOR_BYTES = 1 << 15;

    /** More slices in one direction are not considered. */
    private static final int MOST_SLICES = 1024;

    /** Time to load a byte relative to copying one. */
    private static final long LOAD_COST = 4;

    private final int threads;
    private final Graph graph;
    private final OperatorProfiles alive;
    private final Set<Integer> placed;
    private final Map<Integer, Layer> layers;
    private final Least least;

    /**
     * The smallest arena that slicing can reach.
     *
     * @param bytes its size; a plan may need somewhat more, because not every gap can be filled
     * @param operator index in the main graph of the operator that needs the most; −1 if there is
     *     none
     */
    public record Least(long bytes, int operator) {}

    /**
     * One possible slicing of a layer.
     *
     * @param besideBytes live tensors and temporaries while a slice is computed
     * @param joinedBytes live tensors while slices are copied together
     * @param pieceBytes largest slice of the weights, in whole pages
     * @param movedBytes bytes that are copied because of slicing
     */
    private record Way(
            SliceDecision decision,
            long besideBytes,
            long joinedBytes,
            long pieceBytes,
            long movedBytes) {

        /** Returns the bytes with which the layer can run. */
        long neededBytes() {
            return Math.max(besideBytes + pieceBytes, joinedBytes);
        }

        /** Returns the bytes with which the next weights can be loaded while the layer runs. */
        long wantedBytes() {
            return neededBytes() + pieceBytes;
        }

        /**
         * Returns the time as a number of copied bytes, including waiting for weights that find no
         * room.
         */
        long costBytes(long arenaBytes) {
            return movedBytes + LOAD_COST * Math.max(0, wantedBytes() - arenaBytes);
        }
    }

    /**
     * @param file the model, with constants in the type that kernels read: see {@link Dequantize}
     * @param threads number of kernel threads
     */
    public SlicePlanner(TfLiteFile file, int threads) {
        checkArgument(threads > 0, "%s threads", threads);
        this.threads = threads;
        graph = TfLiteGraphs.toGraph(file, "model");
        List<UsageRecord> records = UsageRecords.of(graph);
        alive =
                new OperatorProfiles(
                        new PlanningProblem(records, AliasAnalysis.aliasClasses(graph)).units());
        placed = new HashSet<>();
        records.forEach(record -> placed.add(record.tensor()));
        layers = Layer.all(file);
        least = findLeast();
    }

    /**
     * Returns the slicing for an arena, in order of the operators. For an arena smaller than {@link
     * #least}, returns the slicing for that size.
     */
    public List<SliceDecision> decisions(long arenaBytes) {
        long reachableBytes = Math.max(arenaBytes, least.bytes());
        ImmutableList.Builder<SliceDecision> decisions = ImmutableList.builder();
        for (Layer layer : layers.values()) {
            if (whole(layer).wantedBytes() <= reachableBytes) {
                continue;
            }
            SliceDecision decision = best(ways(layer), reachableBytes).decision();
            if (decision.count() > 1) {
                decisions.add(decision);
            }
        }
        return decisions.build();
    }

    /** Returns the cheapest slicing that fits. */
    private static Way best(List<Way> ways, long arenaBytes) {
        return ways.stream()
                .filter(way -> way.neededBytes() <= arenaBytes)
                .min(
                        Comparator.<Way>comparingLong(way -> way.costBytes(arenaBytes))
                                .thenComparingInt(way -> way.decision().count()))
                .orElseThrow();
    }

    /** Returns the smallest arena that slicing can reach. */
    public Least least() {
        return least;
    }

    private Least findLeast() {
        Least found = new Least(0, -1);
        for (Operator operator : graph.operators()) {
            Layer layer = layers.get(operator.index());
            long bytes = layer == null ? wholeBytes(operator) : whole(layer).neededBytes();
            if (layer != null && bytes > found.bytes()) {
                bytes = ways(layer).stream().mapToLong(Way::neededBytes).min().orElseThrow();
            }
            if (bytes > found.bytes()) {
                found = new Least(bytes, operator.index());
            }
        }
        return found;
    }

    private Way whole(Layer layer) {
        return way(layer, List.of(layer.out().channels()), List.of(layer.out().height()));
    }

    /** Returns the bytes of an operator that cannot be sliced, without unknown temporaries. */
    private long wholeBytes(Operator operator) {
        long bytes = alive.breadthAt(operator.index());
        for (int id : new HashSet<>(operator.inputs())) {
            Tensor tensor = graph.tensors().get(id);
            if (tensor.storage() == Storage.CONSTANT && tensor.bytes() >= WeightUse.PAGE_BYTES) {
                bytes += WeightUse.roundUp(tensor.bytes());
            }
        }
        return bytes;
    }

    /** Returns all slicings that preserve bits, the unsliced layer first. */
    private List<Way> ways(Layer layer) {
        List<Way> ways = new ArrayList<>();
        int rowGroup = rowGroup(layer);
        Set<Integer> rowSizes = sizes(layer.out().height(), rowGroup);
        for (int channels : sizes(layer.out().channels(), CHANNELS)) {
            List<Integer> byChannels =
                    slices(layer.out().channels(), channels, KernelBits.CHANNELS);
            if (!KernelBits.keptByChannels(layer, byChannels, threads)) {
                continue;
            }
            for (int rows : rowSizes) {
                List<Integer> byRows = slices(layer.out().height(), rows, 1);
                if (byRows.size() == 1
                        || (layer.patchBytes(1) > 0
                                && KernelBits.keptByRows(layer, byRows, threads))) {
                    ways.add(way(layer, byChannels, byRows));
                }
            }
        }
        return ways;
    }

    /**
     * Returns the number of output rows that must stay together, so that slices start at cache
     * lines and whole groups.
     */
    private static int rowGroup(Layer layer) {
        int rows = 1;
        while (rows * layer.out().rowBytes() % Slicer.ALIGNMENT_BYTES != 0
                || (layer.out().channels() % KernelBits.CHANNELS != 0
                        && rows * layer.out().width() % KernelBits.PLACES != 0)) {
            rows++;
        }
        return rows;
    }

    /** Returns the possible sizes of slices of whole groups, largest first. */
    private static Set<Integer> sizes(int extent, int group) {
        Set<Integer> sizes = new LinkedHashSet<>();
        sizes.add(extent);
        for (int count = 2; count <= Math.min(extent / group, MOST_SLICES); count++) {
            int each = (extent + count - 1) / count;
            sizes.add(Math.min(extent, (each + group - 1) / group * group));
        }
        return sizes;
    }

    /** Returns slices of one size; a rest that is too small is added to the last one. */
    private static List<Integer> slices(int extent, int size, int least) {
        List<Integer> slices = new ArrayList<>();
        int left = extent;
        for (; left >= size + least; left -= size) {
            slices.add(size);
        }
        slices.add(left);
        return slices;
    }

    private Way way(Layer layer, List<Integer> channels, List<Integer> rows) {
        SliceDecision decision = new SliceDecision(layer.operator(), channels, rows);
        long aliveBytes = alive.breadthAt(layer.operator());
        long outBytes = UsageRecords.alignedBytes(layer.out().bytes());
        boolean placedOutput = placed.contains(layer.output());
        boolean joins =
                decision.count() > 1
                        && (!placedOutput || (channels.size() > 1 && layer.out().places() > 1));
        long besideBytes = aliveBytes + (joins && !placedOutput ? outBytes : 0);
        long movedBytes = (decision.count() - 1) * OPERATOR_BYTES + (joins ? 2 * outBytes : 0);
        if (rows.size() > 1) {
            besideBytes += inputBytes(layer, rows.get(0));
            for (int count : rows) {
                movedBytes += 2L * channels.size() * inputBytes(layer, count);
            }
        }
        if (threads == 1) {
            besideBytes += UsageRecords.alignedBytes(layer.patchBytes(Collections.max(rows)));
            movedBytes += (channels.size() - 1) * layer.patchBytes(layer.out().height());
        }
        long pieceBytes = WeightUse.roundUp(Collections.max(channels) * layer.channelBytes());
        return new Way(
                decision, besideBytes, joins ? aliveBytes + outBytes : 0, pieceBytes, movedBytes);
    }

    /** Returns the number of input bytes that are copied for some output rows. */
    private long inputBytes(Layer layer, int rows) {
        long inputRows = (rows - 1L) * layer.window().strideHeight() + layer.window().height();
        boolean isView =
                placed.contains(layer.input())
                        && layer.firstInputRow(rows)
                                        * layer.in().rowBytes()
                                        % Slicer.ALIGNMENT_BYTES
                                == 0;
        long sliceBytes = isView ? 0 : inputRows * layer.in().rowBytes();
        int padding = layer.paddingLeft() + layer.paddingRight();
        boolean isPadded = layer.window().padded() && (layer.window().height() > 1 || padding > 0);
        long paddedBytes =
                isPadded
                        ? inputRows
                                * (layer.in().width() + padding)
                                * layer.in().channels()
                                * Float.BYTES
                        : 0;
        return UsageRecords.alignedBytes(sliceBytes) + UsageRecords.alignedBytes(paddedBytes);
    }
}
