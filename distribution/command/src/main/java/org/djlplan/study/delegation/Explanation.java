package org.djlplan.study.delegation;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.Dataflow;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Sets;

/**
 * Explains a choice: why each operator of a model is delegated or not, based on a table of
 * measurements.
 *
 * <p>If an operator could be delegated but is not, the reason is the result of the nearest set with
 * that operator: the set that differs from the chosen set in the fewest operators. If the nearest
 * set failed or was wrong, the reason is taken from another set: of the sets that contain the
 * operator and ended in the same way, the smallest. It contains the fewest other operators that may
 * be the cause.
 */
public final class Explanation {

    private final Dataflow flow;
    private final ProfileTable table;
    private final Goal goal;
    private final Tolerance tolerance;
    private final Set<Integer> excluded;
    private final DelegateRules rules;
    private final Set<Integer> offered;

    /** Sets nearest to the chosen set come first. */
    private final List<Entry> nearest;

    private Explanation(
            Graph graph,
            ProfileTable table,
            Goal goal,
            Tolerance tolerance,
            Set<Integer> excluded,
            DelegateRules rules) {
        this.flow = Dataflow.of(graph);
        this.table = table;
        this.goal = goal;
        this.tolerance = tolerance;
        this.excluded = ImmutableSet.copyOf(excluded);
        this.rules = rules;
        offered =
                table.partitions().stream()
                        .flatMap(Set::stream)
                        .collect(ImmutableSet.toImmutableSet());
        int threads = table.chosen().threads();
        List<Entry> asMany =
                table.entries().stream().filter(e -> e.candidate().threads() == threads).toList();
        // The CPU kernels may be chosen with the engine's default number of threads.
        boolean telling = asMany.stream().anyMatch(entry -> entry.candidate().delegates());
        nearest =
                ImmutableList.sortedCopyOf(
                        Comparator.comparingInt(this::distance).thenComparingInt(Explanation::rank),
                        telling ? asMany : table.entries());
    }

    /**
     * Returns the verdict on each operator, in the graph's order.
     *
     * @param table measurements of the model without the excluded operators
     * @param goal of the choice
     * @param tolerance for the outputs
     * @param excluded operators that must not be delegated
     * @param rules of the delegate
     */
    public static List<Verdict> of(
            Graph graph,
            ProfileTable table,
            Goal goal,
            Tolerance tolerance,
            Set<Integer> excluded,
            DelegateRules rules) {
        Explanation explanation = new Explanation(graph, table, goal, tolerance, excluded, rules);
        return graph.operators().stream()
                .map(Operator::index)
                .map(explanation::verdict)
                .collect(ImmutableList.toImmutableList());
    }

    private Verdict verdict(int operator) {
        if (table.chosen().operators().contains(operator)) {
            return Verdict.DELEGATED;
        }
        if (excluded.contains(operator)) {
            return Verdict.EXCLUDED;
        }
        if (flow.isConstantOperator(operator)) {
            return ofReaders(operator);
        }
        if (!offered.contains(operator)) {
            return Verdict.unsupported(rules.refusal(operator));
        }
        return nearest(operator).map(entry -> verdict(operator, entry)).orElse(Verdict.UNTRIED);
    }

    /**
     * An operator that unpacks a constant gets the verdict of its readers, if they all have the
     * same.
     */
    private Verdict ofReaders(int operator) {
        Set<Verdict> reasons =
                IntStream.of(flow.writes(operator))
                        .flatMap(tensor -> IntStream.of(flow.readers(tensor)))
                        .mapToObj(
                                reader ->
                                        flow.isConstantOperator(reader)
                                                ? Verdict.UNPACKS
                                                : verdict(reader))
                        .collect(ImmutableSet.toImmutableSet());
        if (reasons.size() != 1) {
            return Verdict.UNPACKS;
        }
        Verdict reason = reasons.iterator().next();
        return reason.isOwn() ? Verdict.UNPACKS : reason;
    }

    private Optional<Entry> nearest(int operator) {
        return nearest.stream()
                .filter(entry -> entry.candidate().operators().contains(operator))
                .findFirst();
    }

    /**
     * Constant operators are not counted, because no inference runs them and they follow the
     * others.
     */
    private int distance(Entry entry) {
        Set<Integer> other =
                Sets.symmetricDifference(entry.candidate().operators(), table.chosen().operators());
        return (int) other.stream().filter(i -> !flow.isConstantOperator(i)).count();
    }

    private static int rank(Entry entry) {
        return entry instanceof Entry.Measured ? 0 : entry instanceof Entry.Wrong ? 1 : 2;
    }

    private Verdict verdict(int operator, Entry entry) {
        if (entry instanceof Entry.Wrong wrong) {
            return outside(smallest(operator, Entry.Wrong.class).orElse(wrong));
        }
        if (entry instanceof Entry.Failed failed) {
            return Verdict.failed(smallest(operator, Entry.Failed.class).orElse(failed));
        }
        Entry.Measured with = (Entry.Measured) entry;
        if (goal.maxMemoryBytes().isPresent()
                && with.memoryBytes() > goal.maxMemoryBytes().getAsLong()) {
            return Verdict.overLimit(with, goal.maxMemoryBytes().getAsLong());
        }
        // The CPU kernels can be chosen without having been measured.
        return table.measured(table.chosen())
                .map(chosen -> Verdict.notWorth(with, chosen, goal.objective()))
                .orElse(Verdict.UNTRIED);
    }

    private <T extends Entry> Optional<T> smallest(int operator, Class<T> kind) {
        return nearest.stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .filter(entry -> entry.candidate().operators().contains(operator))
                .min(Comparator.comparingInt(entry -> entry.candidate().operators().size()));
    }

    private Verdict outside(Entry.Wrong wrong) {
        return wrong.errors().stream()
                .filter(error -> !tolerance.admits(error))
                .max(Comparator.comparingDouble(this::excess))
                .map(error -> outside(wrong, error))
                .orElse(Verdict.UNTRIED);
    }

    private Verdict outside(Entry.Wrong wrong, OutputError error) {
        Optional<ByOperator> byOperator = error.byOperator().filter(worst -> !worst.isRight());
        if (byOperator.isPresent()) {
            return Verdict.wrongOperator(wrong, byOperator.get());
        }
        double limit = tolerance.limit(error);
        if (error.difference() > limit || !isFloat(error)) {
            return Verdict.outsideTolerance(wrong, error.type(), error.difference(), limit, false);
        }
        return Verdict.outsideTolerance(
                wrong, error.type(), error.deviation().spread(), spreadLimit(error), true);
    }

    /** Euclidean deviations are judged like the largest ones. */
    private double spreadLimit(OutputError error) {
        Deviation noise = new Deviation(error.noise().spread(), 0, 0);
        return tolerance.limit(error.withNoise(noise));
    }

    private static boolean isFloat(OutputError error) {
        return switch (error.type()) {
            case FLOAT16, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
    }

    private double excess(OutputError error) {
        double limit = tolerance.limit(error);
        double largest = limit == 0 ? Double.POSITIVE_INFINITY : error.difference() / limit;
        return isFloat(error)
                ? Math.max(largest, error.deviation().spread() / spreadLimit(error))
                : largest;
    }

    /** The known rules of a delegate: the operators that it supports. */
    @FunctionalInterface
    public interface DelegateRules {

        /** A delegate without known rules. */
        DelegateRules UNKNOWN = operator -> "the delegate does not take it";

        /**
         * Returns the reason why the delegate does not support an unsupported operator.
         *
         * @param operator its index in the graph
         */
        String refusal(int operator);
    }
}
