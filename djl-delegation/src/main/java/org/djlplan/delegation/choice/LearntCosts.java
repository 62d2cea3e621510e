package org.djlplan.delegation.choice;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedMap;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.Work;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.spi.NodeTime;

/**
 * What operators, delegate kernels and crossings cost on one machine with one delegate, learnt from
 * profiled models; for predicting models that were never run. Immutable.
 *
 * <p>Every cost is nanoseconds per amount, so a node takes
 *
 * <pre>
 *   Σ work(operator) · cost(operator's type) [+ cost(kernel) + bytes · cost(crossing)]
 * </pre>
 *
 * <p>Learning: a node's measured time is shared out over these terms in proportion to what they are
 * predicted to take, and each share and its amount are added up under the term's key; again and
 * again with the prediction that comes of it, so that nodes of different mixtures tell their terms
 * apart (iterative proportional fitting, Deming and Stephan 1940). What a key knew before counts a
 * little less each time.
 *
 * <p>Predicting: the default is corrected by how much longer everything took than by default; that
 * by the same of the operator's type on its side; that by the same of the type with this number of
 * threads. Each time {@value #TRUSTED_NANOS} ns weigh as much as what is corrected. As both sides
 * are corrected together, a slow machine does not make either look better.
 */
public final class LearntCosts {

    /** Most costs that are kept; those with least time are dropped. */
    public static final int MOST_COSTS = 1_000;

    /** What a key's earlier measurements count beside the latest ones. */
    private static final double KEPT = .8;

    private static final int ROUNDS = 40;

    private static final double TRUSTED_NANOS = 20_000;

    /** How many times as long as by default nothing takes on any machine. */
    private static final double SLOWEST = 1e6;

    private static final LearntCosts DEFAULTS = new LearntCosts(ImmutableSortedMap.of());

    /** How long something took, and how long by default. */
    private record Evidence(double nanos, double defaultNanos) {

        static final Evidence NONE = new Evidence(0, 0);

        Evidence plus(Evidence other) {
            return new Evidence(nanos + other.nanos, defaultNanos + other.defaultNanos);
        }

        /** Returns what to multiply the default with, where {@code before} would be without it. */
        double factor(double before) {
            return (TRUSTED_NANOS * before + nanos) / (TRUSTED_NANOS + defaultNanos);
        }
    }

    /** A node's time, and how much of what it has to do. */
    private record Sample(long nanos, Map<CostKey, Double> amounts) {}

    private final ImmutableSortedMap<CostKey, Cost> costs;
    private final Evidence everything;
    private final Map<String, Evidence> operators = new HashMap<>();

    private LearntCosts(ImmutableSortedMap<CostKey, Cost> costs) {
        this.costs = costs;
        costs.forEach(
                (key, cost) ->
                        operators.merge(kindAndOperator(key), evidence(key, cost), Evidence::plus));
        everything = operators.values().stream().reduce(Evidence.NONE, Evidence::plus);
    }

    /** Returns typical costs: nothing is learnt yet. */
    public static LearntCosts defaults() {
        return DEFAULTS;
    }

    /**
     * Returns costs learnt earlier.
     *
     * @throws IllegalArgumentException if there are more than are ever kept
     */
    public static LearntCosts of(Map<CostKey, Cost> costs) {
        checkArgument(costs.size() <= MOST_COSTS, "%s costs", costs.size());
        return new LearntCosts(ImmutableSortedMap.copyOf(costs));
    }

    /** Returns what was learnt. */
    public ImmutableSortedMap<CostKey, Cost> costs() {
        return costs;
    }

    /** Returns a cost that is not one of any machine, if there is one. */
    public Optional<CostKey> implausible() {
        return costs.entrySet().stream()
                .filter(
                        cost ->
                                cost.getValue().nanos()
                                        > cost.getValue().amount()
                                                * DefaultCosts.nanos(cost.getKey())
                                                * SLOWEST)
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Returns how long an operator is predicted to take; 0 for constant ones. */
    public double operatorNanos(Dataflow flow, int operator, boolean delegated, int threads) {
        if (flow.isConstantOperator(operator)) {
            return 0;
        }
        Operator of = flow.graph().operators().get(operator);
        return Work.of(flow.graph(), of) * perAmount(key(flow.graph(), of, delegated, threads));
    }

    /** Returns how long a delegate kernel is predicted to take besides its operators. */
    public double kernelNanos(int threads) {
        return perAmount(new CostKey(Kind.KERNEL, "", threads));
    }

    /** Returns how long a byte that enters or leaves a delegate kernel is predicted to take. */
    public double crossingNanosPerByte(int threads) {
        return perAmount(new CostKey(Kind.CROSSING, "", threads));
    }

    /**
     * Returns what is known after a model was profiled.
     *
     * @param graph the model
     * @param nodes of it, each a CPU kernel or a delegate kernel
     * @param threads that it ran with, −1 for the engine's default
     * @throws IndexOutOfBoundsException if a node has an operator that the graph has not
     */
    public LearntCosts learn(Graph graph, List<NodeTime> nodes, int threads) {
        Dataflow flow = Dataflow.of(graph);
        List<Sample> samples =
                nodes.stream()
                        .map(node -> new Sample(node.nanos(), amounts(flow, node, threads)))
                        .toList();
        LearntCosts learnt = this;
        Map<CostKey, Cost> sum = costs;
        for (int round = 0; round < ROUNDS; round++) {
            sum = learnt.shared(samples);
            for (Map.Entry<CostKey, Cost> before : costs.entrySet()) {
                sum.merge(
                        before.getKey(),
                        before.getValue(),
                        (latest, old) -> latest.plus(old.times(KEPT)));
            }
            learnt = new LearntCosts(ImmutableSortedMap.copyOf(sum));
        }
        return new LearntCosts(bounded(sum));
    }

    /** Shares the samples' times out by these costs. */
    private Map<CostKey, Cost> shared(List<Sample> samples) {
        Map<CostKey, Double> rates = new HashMap<>();
        TreeMap<CostKey, Cost> shares = new TreeMap<>();
        for (Sample sample : samples) {
            double predicted = 0;
            for (Map.Entry<CostKey, Double> term : sample.amounts().entrySet()) {
                double rate = rates.computeIfAbsent(term.getKey(), this::perAmount);
                predicted += term.getValue() * rate;
            }
            for (Map.Entry<CostKey, Double> term : sample.amounts().entrySet()) {
                double share = term.getValue() * rates.get(term.getKey()) / predicted;
                Cost cost = new Cost(sample.nanos() * share, term.getValue());
                shares.merge(term.getKey(), cost, Cost::plus);
            }
        }
        return shares;
    }

    /** Returns the terms of a node's time; none if it runs only once. */
    private static Map<CostKey, Double> amounts(Dataflow flow, NodeTime node, int threads) {
        Map<CostKey, Double> amounts = new LinkedHashMap<>();
        BitSet members = new BitSet();
        for (int index : node.operators()) {
            Operator operator = flow.graph().operators().get(index);
            members.set(index);
            if (!flow.isConstantOperator(index)) {
                amounts.merge(
                        key(flow.graph(), operator, node.delegated(), threads),
                        (double) Work.of(flow.graph(), operator),
                        Double::sum);
            }
        }
        if (node.delegated() && !amounts.isEmpty()) {
            amounts.put(new CostKey(Kind.KERNEL, "", threads), 1.0);
            double bytes = flow.crossingBytes(members);
            if (bytes > 0) {
                amounts.put(new CostKey(Kind.CROSSING, "", threads), bytes);
            }
        }
        return amounts;
    }

    private static ImmutableSortedMap<CostKey, Cost> bounded(Map<CostKey, Cost> learnt) {
        Comparator<Map.Entry<CostKey, Cost>> longest =
                Comparator.comparingDouble(entry -> -entry.getValue().nanos());
        return learnt.entrySet().stream()
                .sorted(longest.thenComparing(Map.Entry.comparingByKey()))
                .limit(MOST_COSTS)
                .collect(
                        ImmutableSortedMap.toImmutableSortedMap(
                                Comparator.naturalOrder(), Map.Entry::getKey, Map.Entry::getValue));
    }

    private double perAmount(CostKey key) {
        double ofOperator =
                operators
                        .getOrDefault(kindAndOperator(key), Evidence.NONE)
                        .factor(everything.factor(1));
        Cost measured = costs.get(key);
        Evidence exact = measured == null ? Evidence.NONE : evidence(key, measured);
        return DefaultCosts.nanos(key) * exact.factor(ofOperator);
    }

    private static Evidence evidence(CostKey key, Cost cost) {
        return new Evidence(cost.nanos(), cost.amount() * DefaultCosts.nanos(key));
    }

    private static String kindAndOperator(CostKey key) {
        return key.kind() + " " + key.operator();
    }

    private static CostKey key(Graph graph, Operator operator, boolean delegated, int threads) {
        ElementType type =
                operator.outputs().isEmpty()
                        ? ElementType.FLOAT32
                        : graph.tensors().get(operator.outputs().get(0)).type();
        String name = operator.type() + (type == ElementType.FLOAT32 ? "" : ":" + type);
        return new CostKey(
                delegated ? Kind.DELEGATE : Kind.CPU,
                name.substring(0, Math.min(name.length(), CostKey.MOST_CHARACTERS)),
                threads);
    }
}
