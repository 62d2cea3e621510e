package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSet;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.delegation.partition.Unit;
import org.djlplan.memplan.spi.NodeTime;

/**
 * What each unit takes on either side, and so what any union of units takes.
 *
 * <p>What a unit takes depends on its own side and on that of the unit before it: the input is in
 * the right cache and layout or is not, and a delegate kernel begins or goes on. Operators that the
 * delegate does not support take what they take after the unit before them.
 *
 * <pre>
 *   nanos(S) = start + Σ unit(u, u ∈ S, u−1 ∈ S) + after(u, u ∈ S)
 * </pre>
 *
 * The node times of two unions, nothing and everything, give the terms of neighbours on the same
 * side, which then stand for the others as well. With those of two more, every other unit and the
 * rest, all terms are measured. A delegate kernel that covers several units is shared out as their
 * operators' times on the CPU are.
 */
public final class LatencyModel {

    /**
     * The node times of one union.
     *
     * @param union indices of its units
     * @param nodes of one inference
     */
    public record Run(Set<Integer> union, List<NodeTime> nodes) {
        public Run {
            union = ImmutableSet.copyOf(union);
            nodes = List.copyOf(nodes);
        }
    }

    /** A mean. */
    private static final class Mean {
        private double sum;
        private int count;

        void add(double value) {
            sum += value;
            count++;
        }

        double or(Mean other) {
            return count > 0 ? sum / count : other.value();
        }

        double value() {
            return sum / count;
        }
    }

    private static final int CPU = 0;
    private static final int DELEGATE = 1;

    private final List<Unit> units;
    private final Map<Integer, Long> operatorNanos = new HashMap<>();

    /** By unit, its side and that of the unit before. */
    private final Mean[][][] inUnit;

    /** By unit and its side. */
    private final Mean[][] after;

    private final Mean start = new Mean();

    /**
     * @param units of the graph
     * @param runs of which one delegates nothing and one everything
     */
    public LatencyModel(List<Unit> units, List<Run> runs) {
        this.units = units;
        checkArgument(runs.stream().anyMatch(r -> r.union.isEmpty()), "no run on the CPU");
        checkArgument(
                runs.stream().anyMatch(r -> r.union.size() == units.size()),
                "no run of everything in the delegate");
        inUnit = new Mean[units.size()][2][2];
        after = new Mean[units.size()][2];
        for (int unit = 0; unit < units.size(); unit++) {
            for (int side : new int[] {CPU, DELEGATE}) {
                inUnit[unit][side][CPU] = new Mean();
                inUnit[unit][side][DELEGATE] = new Mean();
                after[unit][side] = new Mean();
            }
        }
        for (Run run : runs) {
            for (NodeTime node : run.nodes) {
                if (!node.delegated()) {
                    operatorNanos.putIfAbsent(node.operators().first(), node.nanos());
                }
            }
        }
        runs.forEach(this::learn);
    }

    private void learn(Run run) {
        double[] inUnitNanos = new double[units.size()];
        double[] afterNanos = new double[units.size()];
        double startNanos = 0;
        for (NodeTime node : run.nodes) {
            double[] shares = shares(node.operators());
            double sum = Arrays.stream(shares).sum();
            if (sum > 0) {
                for (int unit = 0; unit < shares.length; unit++) {
                    inUnitNanos[unit] += node.nanos() * shares[unit] / sum;
                }
                continue;
            }
            int before = unitBefore(node.operators().first());
            if (before >= 0) {
                afterNanos[before] += node.nanos();
            } else {
                startNanos += node.nanos();
            }
        }
        for (int unit = 0; unit < units.size(); unit++) {
            inUnit[unit][side(run.union, unit)][sideBefore(run.union, unit)].add(inUnitNanos[unit]);
            after[unit][side(run.union, unit)].add(afterNanos[unit]);
        }
        start.add(startNanos);
    }

    /** Returns what a union of units is predicted to take. */
    public double nanos(Set<Integer> union) {
        double nanos = start.value();
        for (int unit = 0; unit < units.size(); unit++) {
            nanos += inUnit(unit, side(union, unit), sideBefore(union, unit));
            nanos += after[unit][side(union, unit)].value();
        }
        return nanos;
    }

    /** Returns what a unit takes on the CPU when everything is there. */
    public double cpuNanos(int unit) {
        return inUnit(unit, CPU, CPU);
    }

    /** Returns what a unit takes in the delegate when everything is there. */
    public double delegateNanos(int unit) {
        return inUnit(unit, DELEGATE, DELEGATE);
    }

    private double inUnit(int unit, int side, int before) {
        return inUnit[unit][side][before].or(inUnit[unit][side][1 - before]);
    }

    private static int side(Set<Integer> union, int unit) {
        return union.contains(unit) ? DELEGATE : CPU;
    }

    /** The first unit counts as one that goes on. */
    private static int sideBefore(Set<Integer> union, int unit) {
        return side(union, Math.max(0, unit - 1));
    }

    private double[] shares(Set<Integer> operators) {
        double[] shares = new double[units.size()];
        for (int unit = 0; unit < units.size(); unit++) {
            for (int operator : units.get(unit).operators()) {
                if (operators.contains(operator)) {
                    // 1 ns more, so that what takes no time on the CPU has a share as well.
                    shares[unit] += operatorNanos.getOrDefault(operator, 0L) + 1;
                }
            }
        }
        return shares;
    }

    /** Returns the last unit that begins before an operator; −1 if there is none. */
    private int unitBefore(int operator) {
        int before = -1;
        for (int unit = 0; unit < units.size(); unit++) {
            if (units.get(unit).operators().first() < operator) {
                before = unit;
            }
        }
        return before;
    }
}
