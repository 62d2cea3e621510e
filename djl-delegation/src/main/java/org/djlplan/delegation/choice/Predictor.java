package org.djlplan.delegation.choice;

import static org.djlplan.memplan.spi.DelegationChoice.Origin.UNVERIFIED;

import com.google.common.collect.ImmutableSet;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.djlplan.delegation.partition.DelegatedGraph;
import org.djlplan.delegation.partition.UnitGraph;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Objective;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;

/** Chooses what to delegate without running anything, from what operators cost. */
public final class Predictor {

    /** Up to so many units partitions are cut into; all their unions are looked at. */
    private static final int MOST_UNITS = 8;

    /** A prediction is not better than this; less gain than that is none. */
    private static final double CLEAR_GAIN = .05;

    /** What each delegate kernel more must bring, as a part of the time. */
    private static final double PER_KERNEL = .005;

    /** Two that take as much memory differ by less than this part of it. */
    private static final double SAME_MEMORY = .02;

    /** Makes every union within the limit cheaper than any that is not. */
    private static final double OVER_LIMIT = 1e30;

    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_MS = 1e6;

    private final UnitGraph units;
    private final int threads;
    private final Goal goal;
    private final LearntCosts costs;
    private final PredictedMemory memory;
    private final double[] cpuNanos;
    private final double[] delegateNanos;

    /** What a union of units is predicted to be. */
    private record Predicted(int kernels, double nanos, long bytes) {}

    private Predictor(UnitGraph units, int threads, Goal goal, LearntCosts costs) {
        this.units = units;
        this.threads = threads;
        this.goal = goal;
        this.costs = costs;
        this.memory = new PredictedMemory(units.flow());
        int count = units.flow().graph().operators().size();
        cpuNanos = new double[count];
        delegateNanos = new double[count];
        for (int i = 0; i < count; i++) {
            cpuNanos[i] = costs.operatorNanos(units.flow(), i, false, threads);
            delegateNanos[i] = costs.operatorNanos(units.flow(), i, true, threads);
        }
    }

    /**
     * Returns the union of units that reaches the goal best as far as one can predict, or the CPU
     * kernels if none is predicted to gain more than 5 %. Of unions that are about as good it is
     * the one of fewest delegate kernels.
     *
     * @param graph the model
     * @param partitions what the delegate reported, in execution order
     * @param threads per prediction, −1 for the engine's default
     * @param goal what is wanted; a limit of memory holds for the predicted memory
     * @param costs of this machine and delegate
     */
    public static DelegationChoice predict(
            Graph graph,
            List<? extends Set<Integer>> partitions,
            int threads,
            Goal goal,
            LearntCosts costs) {
        UnitGraph units = UnitGraph.of(graph, partitions, MOST_UNITS);
        return new Predictor(units, threads, goal, costs).choice();
    }

    private DelegationChoice choice() {
        if (units.units().isEmpty()) {
            return cpu("the delegate takes no operator of this model");
        }
        long limitBytes = limitBytes();
        BitSet best = best(predicted -> cost(predicted, limitBytes));
        Predicted found = predicted(best);
        Predicted cpu = predicted(new BitSet());
        if (best.isEmpty() || !clearlyBetter(found, cpu)) {
            return cpu("no set of partitions is predicted to gain more than 5 %");
        }
        Set<Integer> chosen = best.stream().boxed().collect(ImmutableSet.toImmutableSet());
        return new DelegationChoice(
                new Candidate(units.operators(chosen), threads), UNVERIFIED, reason(found, cpu));
    }

    private DelegationChoice cpu(String reason) {
        return new DelegationChoice(Candidate.cpu(threads), UNVERIFIED, reason);
    }

    private Predicted predicted(BitSet union) {
        DelegatedGraph delegated = units.delegate(union);
        double nanos =
                delegated.kernels() * costs.kernelNanos(threads)
                        + delegated.crossingBytes() * costs.crossingNanosPerByte(threads);
        for (int i = 0; i < cpuNanos.length; i++) {
            nanos += delegated.isDelegated(i) ? delegateNanos[i] : cpuNanos[i];
        }
        return new Predicted(
                delegated.kernels(), nanos, memoryCounts() ? memory.bytes(delegated) : 0);
    }

    private boolean memoryCounts() {
        return goal.objective() != Objective.LATENCY || goal.maxMemoryBytes().isPresent();
    }

    private BitSet best(ToDoubleFunction<Predicted> cost) {
        return BestUnion.of(units.units().size(), union -> cost.applyAsDouble(predicted(union)));
    }

    /** To take little memory is to be fast with hardly more than the least that is possible. */
    private long limitBytes() {
        long asked = goal.maxMemoryBytes().orElse(Long.MAX_VALUE);
        if (goal.objective() != Objective.MEMORY) {
            return asked;
        }
        long least = predicted(best(predicted -> (double) predicted.bytes())).bytes();
        return Math.min(asked, (long) (least * (1 + SAME_MEMORY)));
    }

    private double cost(Predicted predicted, long limitBytes) {
        if (predicted.bytes() > limitBytes) {
            return OVER_LIMIT * predicted.bytes();
        }
        double nanos = predicted.nanos() * (1 + PER_KERNEL * predicted.kernels());
        return goal.objective() == Objective.BALANCED
                ? nanos * Math.max(1, predicted.bytes())
                : nanos;
    }

    private boolean overLimit(Predicted predicted) {
        return predicted.bytes() > goal.maxMemoryBytes().orElse(Long.MAX_VALUE);
    }

    private boolean clearlyBetter(Predicted found, Predicted cpu) {
        boolean less = found.bytes() < (1 - CLEAR_GAIN) * cpu.bytes();
        boolean faster = found.nanos() < (1 - CLEAR_GAIN) * cpu.nanos();
        if (overLimit(cpu)) {
            return !overLimit(found) || less;
        }
        return switch (goal.objective()) {
            case LATENCY -> faster;
            case BALANCED ->
                    cost(found, Long.MAX_VALUE) < (1 - CLEAR_GAIN) * cost(cpu, Long.MAX_VALUE);
            case MEMORY -> less || (faster && found.bytes() <= (1 + SAME_MEMORY) * cpu.bytes());
        };
    }

    private String reason(Predicted found, Predicted cpu) {
        String time =
                String.format(
                        Locale.ROOT,
                        "predicted %.3g ms instead of %.3g ms on the CPU kernels",
                        found.nanos() / NANOS_PER_MS,
                        cpu.nanos() / NANOS_PER_MS);
        String memory =
                String.format(
                        Locale.ROOT,
                        ", %.1f MB instead of %.1f MB",
                        found.bytes() / BYTES_PER_MB,
                        cpu.bytes() / BYTES_PER_MB);
        String kernels =
                found.kernels() == 1
                        ? ", in 1 delegate kernel"
                        : ", in " + found.kernels() + " delegate kernels";
        return time + (memoryCounts() ? memory : "") + kernels;
    }
}
