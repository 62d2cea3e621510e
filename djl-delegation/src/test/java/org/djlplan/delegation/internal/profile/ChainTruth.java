package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * The true times of an invented model: a chain of partitions, separated by operators that the
 * delegate does not support.
 *
 * <p>An operator has one cost on the CPU and one in the delegate, and each delegate kernel has a
 * cost of its own. Times do not add up exactly: if one of two neighbouring partitions runs on the
 * CPU and the other in the delegate, the time of the later one changes. It takes longer if its
 * input is in the wrong cache, and less time if its input no longer fills a cache that other data
 * needs.
 */
final class ChainTruth implements Truth {

    static final double MILLI = 1e6;

    private final Graph graph;
    private final List<SortedSet<Integer>> partitions = new ArrayList<>();
    final double[] cpuNanos;
    final double[] delegateNanos;
    final double[] mixedNanos;
    double kernelNanos;

    /** Factor of all times with more than one thread. */
    double threadsFactor = 1;

    /** Factor of delegated operators' times if buffers are built for each prediction. */
    double transientFactor = 1;

    /** Factor of delegated operators' memory in that case. */
    double transientPart = 1;

    /** Size of the arena if nothing is delegated. */
    long cpuBytes = 10 << 20;

    /** Bytes that delegating an operator adds; weights are packed, but the arena may shrink. */
    final long[] operatorBytes;

    /** Bytes that a delegate kernel adds. */
    long kernelBytes = 1 << 20;

    /** Makes a chain of partitions with these numbers of operators, which have no cost yet. */
    ChainTruth(int... operators) {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 16, 16, 64);
        for (int count : operators) {
            SortedSet<Integer> partition = new TreeSet<>();
            for (int i = 0; i < count; i++) {
                partition.add(sketch.operators());
                tensor = sketch.conv(tensor, 64, 1);
            }
            partitions.add(ImmutableSortedSet.copyOf(partition));
            tensor = sketch.operator("CUSTOM", List.of(1, 16, 16, 64), tensor);
        }
        graph = sketch.output(tensor).build();
        int size = graph.operators().size();
        cpuNanos = new double[size];
        delegateNanos = new double[size];
        operatorBytes = new long[size];
        mixedNanos = new double[operators.length];
    }

    /**
     * Returns uneven partitions, for which the delegate takes from a fourth to twice the CPU's
     * time.
     */
    static ChainTruth random(Random random, int count) {
        int[] operators = random.ints(count, 1, 5).toArray();
        ChainTruth truth = new ChainTruth(operators);
        truth.kernelNanos = MILLI * (0.05 + 0.3 * random.nextDouble());
        for (int p = 0; p < count; p++) {
            double cpu = MILLI * 5 * Math.exp(1.2 * random.nextGaussian());
            double speedup = 1.6 * Math.exp(0.7 * random.nextGaussian());
            for (int operator : truth.partitions.get(p)) {
                double own = cpu / operators[p] * Math.exp(0.3 * random.nextGaussian());
                truth.cpuNanos[operator] = own;
                truth.delegateNanos[operator] =
                        own / speedup * Math.exp(0.3 * random.nextGaussian());
                truth.operatorBytes[operator] = (long) (random.nextDouble() * (2 << 20));
            }
            truth.cpuNanos[truth.partitions.get(p).last() + 1] = MILLI * 0.1 * random.nextDouble();
            truth.mixedNanos[p] = cpu * (random.nextDouble() * 0.09 - 0.03);
        }
        return truth;
    }

    @Override
    public Graph graph() {
        return graph;
    }

    @Override
    public List<SortedSet<Integer>> partitions() {
        return partitions;
    }

    /** Returns the time of the best union of whole partitions. */
    double bestNanos() {
        // Times depend on two neighbours only, so the best time on each side suffices to continue.
        double onCpu = 0;
        double inDelegate = 0;
        for (int p = 0; p < partitions.size(); p++) {
            double after = cpuNanos[partitions.get(p).last() + 1];
            double mixed = p == 0 ? 0 : mixedNanos[p];
            double cpu = after;
            double delegate = after + kernelNanos;
            for (int operator : partitions.get(p)) {
                cpu += cpuNanos[operator];
                delegate += delegateNanos[operator];
            }
            double nextOnCpu = cpu + Math.min(onCpu, inDelegate + mixed);
            inDelegate = delegate + Math.min(inDelegate, onCpu + mixed);
            onCpu = nextOnCpu;
        }
        return Math.min(onCpu, inDelegate);
    }

    @Override
    public long bytes(Candidate candidate) {
        long bytes = cpuBytes + kernelBytes * kernels(candidate);
        double part = candidate.transientBuffers() ? transientPart : 1;
        for (int operator : candidate.operators()) {
            bytes += Math.round(part * operatorBytes[operator]);
        }
        return Math.max(0, bytes);
    }

    @Override
    public List<NodeTime> nodes(Candidate candidate) {
        double factor = candidate.threads() == 1 ? 1 : threadsFactor;
        List<NodeTime> nodes = new ArrayList<>();
        SortedSet<Integer> kernel = new TreeSet<>();
        double nanos = 0;
        for (int operator = 0; operator < cpuNanos.length; operator++) {
            boolean delegated = candidate.operators().contains(operator);
            double mixed = mixed(operator, candidate.operators());
            if (delegated) {
                nanos += (kernel.isEmpty() ? kernelNanos : 0) + delegateNanos[operator] + mixed;
                kernel.add(operator);
            }
            boolean last = !candidate.operators().contains(operator + 1);
            if (delegated && last) {
                double times = candidate.transientBuffers() ? factor * transientFactor : factor;
                nodes.add(new NodeTime(kernel, true, Math.round(times * nanos)));
                kernel = new TreeSet<>();
                nanos = 0;
            } else if (!delegated) {
                SortedSet<Integer> only = ImmutableSortedSet.of(operator);
                nodes.add(
                        new NodeTime(
                                only, false, Math.round(factor * (cpuNanos[operator] + mixed))));
            }
        }
        return nodes;
    }

    /**
     * Returns the extra time of a partition's first operator if the neighbour partition is on the
     * other side.
     */
    private double mixed(int operator, Set<Integer> delegated) {
        for (int p = 1; p < partitions.size(); p++) {
            if (partitions.get(p).first() == operator) {
                boolean before = delegated.contains(partitions.get(p - 1).last());
                return before == delegated.contains(operator) ? 0 : mixedNanos[p];
            }
        }
        return 0;
    }
}
