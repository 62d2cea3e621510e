package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * YOLOv4-tiny under TensorFlow Lite's GPU delegate on a Jetson Xavier NX: 152 nodes, 7 partitions.
 *
 * <p><b>Published</b> (tensorflow/tensorflow#66677, mirrored as google-ai-edge/LiteRT#66, and the
 * thesis of the author): the partitions; the latency with only the first, second, third or
 * fourth of them delegated: 669, 677, 645, 402 ms. The best of all 127 sets has the four partitions
 * with most FLOPs and takes 64 ms; all seven take 71 ms. TensorFlow Lite's rule, which delegates
 * the N partitions with most nodes, is slower than no delegate for N = 1…5, and is best with N = 7.
 *
 * <p><b>Derived</b>, if latencies add up: a run in which everything falls back takes (669 + 677 +
 * 645 + 402 − 64) / 3 = 776.3 ms. The saving of each of the four partitions follows from that.
 *
 * <p><b>Assumed</b>: that the four partitions of the best set are the first ones, which form the
 * backbone; all other times; and that the model takes 160 ms without a delegate. This time must be
 * less than the rule's 176 ms for N = 5. It can be far below 776 ms because operators that fall
 * back run in plain kernels, while TensorFlow Lite uses XNNPACK if no delegate is requested. So the
 * CPU times of a run without a delegate are five times too short, and the choice must be right
 * nevertheless.
 */
final class YoloTruth implements Truth {

    static final double ALONE_ON_CPU_MILLIS = 160;
    static final double BEST_MILLIS = 64;
    static final double ALL_MILLIS = 71;
    static final List<Double> ONE_MILLIS = List.of(669.0, 677.0, 645.0, 402.0);

    private static final int NODES = 152;
    private static final double MILLI = 1e6;

    private static final double FALLEN_BACK_MILLIS = (669 + 677 + 645 + 402 - BEST_MILLIS) / 3;
    private static final double REST_MILLIS = 8;
    private static final double[] DELEGATE_MILLIS = {8, 6, 6, 20, 10, 8, 5};
    private static final double[] CPU_MILLIS = {
        FALLEN_BACK_MILLIS - 669 + 8,
        FALLEN_BACK_MILLIS - 677 + 6,
        FALLEN_BACK_MILLIS - 645 + 6,
        FALLEN_BACK_MILLIS - 402 + 20,
        7,
        6,
        3
    };

    private static final List<SortedSet<Integer>> PARTITIONS =
            List.of(
                    range(0, 7),
                    range(9, 19),
                    range(21, 31),
                    ImmutableSortedSet.<Integer>naturalOrder()
                            .addAll(range(33, 54))
                            .add(102)
                            .build(),
                    ImmutableSortedSet.of(
                            56, 59, 62, 66, 72, 78, 79, 80, 83, 84, 85, 88, 89, 90, 94, 104, 107,
                            110, 114, 115, 116, 119, 120, 121, 124, 125, 126, 131, 137, 143),
                    ImmutableSortedSet.of(
                            58, 61, 64, 65, 68, 74, 82, 87, 92, 93, 96, 106, 109, 112, 113, 118,
                            123, 128, 129, 130, 133, 139, 145),
                    ImmutableSortedSet.of(71, 77, 99, 100, 101, 136, 142, 148, 149, 150, 151));

    private final Graph graph = sketch();

    private static SortedSet<Integer> range(int first, int last) {
        ImmutableSortedSet.Builder<Integer> range = ImmutableSortedSet.naturalOrder();
        for (int node = first; node <= last; node++) {
            range.add(node);
        }
        return range.build();
    }

    /**
     * The data flow is not published; this one makes the engine find these partitions. Every node
     * reads the output of the node before it in its partition, or among the nodes that fall back.
     * The first node of a partition, and some nodes that fall back, also read the output of the
     * node directly before them.
     */
    private static Graph sketch() {
        GraphSketch sketch = new GraphSketch();
        Set<Integer> entries = new HashSet<>(Set.of(8, 20, 32, 55, 57));
        PARTITIONS.forEach(partition -> entries.add(partition.first()));
        int[] last = new int[PARTITIONS.size() + 1];
        int[] written = new int[NODES];
        int input = sketch.input(1, 4, 4, 4);
        Arrays.fill(last, input);
        for (int node = 0; node < NODES; node++) {
            int group = partition(node);
            List<Integer> reads = new ArrayList<>(List.of(last[group]));
            if (node > 0 && entries.contains(node)) {
                reads.add(written[node - 1]);
            }
            if (node == 70) {
                reads.add(written[68]);
            }
            written[node] =
                    sketch.operator("ANY", List.of(1, 4, 4, 4), reads.toArray(Integer[]::new));
            last[group] = written[node];
        }
        return sketch.output(written[NODES - 1]).build();
    }

    /**
     * Returns the partition of a node; nodes that fall back have the number after the last
     * partition's.
     */
    private static int partition(int node) {
        for (int p = 0; p < PARTITIONS.size(); p++) {
            if (PARTITIONS.get(p).contains(node)) {
                return p;
            }
        }
        return PARTITIONS.size();
    }

    @Override
    public Graph graph() {
        return graph;
    }

    @Override
    public List<SortedSet<Integer>> partitions() {
        return PARTITIONS;
    }

    @Override
    public List<NodeTime> nodes(Candidate candidate) {
        List<NodeTime> nodes = new ArrayList<>();
        double scale = candidate.delegates() ? 1 : ALONE_ON_CPU_MILLIS / FALLEN_BACK_MILLIS;
        for (int p = 0; p < PARTITIONS.size(); p++) {
            if (candidate.operators().containsAll(PARTITIONS.get(p))) {
                long nanos = Math.round(MILLI * DELEGATE_MILLIS[p]);
                nodes.add(new NodeTime(PARTITIONS.get(p), true, nanos));
            }
        }
        for (int node = 0; node < NODES; node++) {
            if (!candidate.operators().contains(node)) {
                int p = partition(node);
                double millis =
                        p < PARTITIONS.size()
                                ? CPU_MILLIS[p] / PARTITIONS.get(p).size()
                                : REST_MILLIS / fallingBack();
                long nanos = Math.round(MILLI * millis * scale);
                nodes.add(new NodeTime(ImmutableSortedSet.of(node), false, nanos));
            }
        }
        return nodes;
    }

    private static int fallingBack() {
        return NODES - PARTITIONS.stream().mapToInt(Set::size).sum();
    }

    @Override
    public long bytes(Candidate candidate) {
        return (50 + 4L * kernels(candidate)) << 20;
    }
}
