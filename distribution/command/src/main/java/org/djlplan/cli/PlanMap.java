package org.djlplan.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.cli.MemoryMap.Span;
import org.djlplan.cli.MemoryMap.Strategy;
import org.djlplan.cli.MemoryMap.Tensor;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Iterables;

/**
 * Memory maps of the planner's results for one input, with the same figures as {@link
 * PlanRun.Output}.
 */
final class PlanMap {

    private static final String NAIVE = "naive";

    /** The largest number of offsets, in all plans together, that a page can hold. */
    private static final int MOST_OFFSETS = 400_000;

    /** The number of plans that have offsets, however many tensors there are. */
    private static final int ALWAYS = 4;

    private final PlanInput input;
    private final ImmutableList<UsageRecord> records;
    private final ReportSteps steps;

    /** Ids of the model's inputs and outputs. */
    private final ImmutableSet<Integer> ends;

    /**
     * The index of each tensor in the map, by id: planned tensors first, then inputs and outputs.
     */
    private final ImmutableMap<Integer, Integer> indices;

    private final List<Strategy> more = new ArrayList<>();

    /** First and last step, both inclusive. */
    private record Interval(int first, int last) {}

    PlanMap(PlanInput input) {
        this.input = input;
        records = input.variants().get(0).records();
        steps =
                input.graph()
                        .map(graph -> ReportSteps.of(graph.operators().size()))
                        .orElseGet(() -> ReportSteps.of(records));
        ends = input.graph().map(PlanMap::ends).orElse(ImmutableSet.of());
        Map<Integer, Integer> numbers = new HashMap<>();
        records.forEach(record -> numbers.put(record.tensor(), numbers.size()));
        ends.forEach(tensor -> numbers.put(tensor, numbers.size()));
        indices = ImmutableMap.copyOf(numbers);
    }

    /** Returns the inputs and outputs that an operator uses and that take memory. */
    private static ImmutableSet<Integer> ends(Graph graph) {
        Set<Integer> touched = new HashSet<>();
        for (Operator operator : graph.operators()) {
            touched.addAll(operator.inputs());
            touched.addAll(operator.outputs());
        }
        return IntStream.concat(
                        graph.inputs().stream().mapToInt(id -> id),
                        graph.outputs().stream().mapToInt(id -> id))
                .boxed()
                .filter(touched::contains)
                .filter(id -> graph.tensors().get(id).storage() != Storage.CONSTANT)
                .collect(ImmutableSet.toImmutableSet());
    }

    /**
     * Adds the engine's own arena.
     *
     * @param totalBytes its size
     * @param offsets of the tensors in it, by id
     */
    PlanMap withEngine(long totalBytes, Map<Integer, Long> offsets) {
        List<Long> places = new ArrayList<>(Collections.nCopies(indices.size(), null));
        offsets.forEach(
                (tensor, offset) -> {
                    if (indices.containsKey(tensor)) {
                        places.set(indices.get(tensor), offset);
                    }
                });
        more.add(
                new Strategy(
                        MemoryMap.ENGINE,
                        PlanRun.OFFSETS,
                        totalBytes,
                        0,
                        true,
                        false,
                        Optional.of(places),
                        Optional.empty()));
        return this;
    }

    /** Returns the map of the plans of a planner run, and of the added plans. */
    MemoryMap of(PlanRun run) {
        PlanRun.Output output = run.describe(false, Optional.empty());
        return new MemoryMap(
                operators(),
                steps.numbers(),
                tensors(),
                breadths(),
                output.naiveBytes(),
                output.lowerBoundBytes(),
                output.aliasedLowerBoundBytes(),
                output.sharedObjectsLowerBoundBytes(),
                withFewOffsets(
                        Stream.concat(run.plans().stream().map(this::strategy), more.stream())
                                .toList(),
                        output.best().strategy()),
                output.best().strategy());
    }

    /**
     * If there are very many tensors, only the most interesting plans have offsets: the best, the
     * engine's, the naive one and the smallest others.
     */
    private List<Strategy> withFewOffsets(List<Strategy> all, String best) {
        Comparator<Strategy> order =
                Comparator.comparing((Strategy each) -> !each.name().equals(best))
                        .thenComparing(each -> !each.name().equals(MemoryMap.ENGINE))
                        .thenComparing(each -> !each.layout().equals(NAIVE))
                        .thenComparing(Strategy::totalBytes);
        Set<Strategy> shown =
                all.stream()
                        .sorted(order)
                        .limit(Math.max(ALWAYS, MOST_OFFSETS / Math.max(1, indices.size())))
                        .collect(Collectors.toSet());
        return all.stream()
                .map(each -> shown.contains(each) ? each : each.withoutOffsets())
                .toList();
    }

    private List<String> operators() {
        return input.graph()
                .map(graph -> graph.operators().stream().map(Operator::type).toList())
                .orElseGet(this::operatorsOfRecords);
    }

    /** Returns, for each step at which a tensor begins, the operator that makes it, if known. */
    private List<String> operatorsOfRecords() {
        List<String> types = new ArrayList<>(Collections.nCopies(steps.count(), ""));
        for (UsageRecord record : records) {
            String operator = known(record).map(OperatorNames.Named::operator).orElse("");
            if (!operator.isEmpty()) {
                types.set(steps.index(record.first()), operator);
            }
        }
        return types;
    }

    private Optional<OperatorNames.Named> known(UsageRecord record) {
        return Optional.ofNullable(input.allocations().get(record.tensor()));
    }

    /** Returns the interval from the first to the last operator that reads or writes a tensor. */
    private static Interval touched(Graph graph, int id) {
        List<Integer> touching =
                graph.operators().stream()
                        .filter(o -> o.inputs().contains(id) || o.outputs().contains(id))
                        .map(Operator::index)
                        .toList();
        return new Interval(touching.get(0), Iterables.getLast(touching));
    }

    private ImmutableList<Long> breadths() {
        OperatorProfiles profiles = new OperatorProfiles(records);
        return IntStream.range(0, steps.count())
                .mapToObj(step -> profiles.breadthAt(steps.number(step)))
                .collect(ImmutableList.toImmutableList());
    }

    private Strategy strategy(PlanRun.Planned planned) {
        PlanRun.Result result = planned.result();
        Optional<List<Long>> objectBytes = result.objectBytes();
        List<Span> objects = new ArrayList<>();
        long end = 0;
        for (long bytes : objectBytes.orElse(List.of())) {
            objects.add(new Span(end, bytes));
            end += bytes;
        }
        boolean naive = planned.plan().strategy().equals(NAIVE) && objectBytes.isEmpty();
        return new Strategy(
                result.strategy(),
                naive ? NAIVE : result.layout(),
                result.totalBytes(),
                result.millis(),
                result.valid(),
                result.provedMinimal(),
                Optional.of(places(planned.plan()::offsetOf)),
                objectBytes.isPresent() ? Optional.of(objects) : Optional.empty());
    }

    private List<Long> places(IntToLongFunction offsetOf) {
        return records.stream().map(each -> offsetOf.applyAsLong(each.tensor())).toList();
    }

    private ImmutableList<Tensor> tensors() {
        if (input.graph().isEmpty()) {
            return records.stream().map(this::ofRecord).collect(ImmutableList.toImmutableList());
        }
        return new GraphTensors(input.graph().get()).all();
    }

    private Tensor ofRecord(UsageRecord record) {
        return new Tensor(
                input.ids().get(record.tensor()),
                known(record).flatMap(OperatorNames.Named::shape),
                Optional.empty(),
                record.bytes(),
                steps.index(record.first()),
                steps.index(record.last()),
                known(record)
                        .filter(each -> !each.operator().isEmpty())
                        .map(each -> steps.index(record.first())),
                List.of(),
                MemoryMap.ARENA,
                Optional.empty());
    }

    /** The tensors of a graph with their writers and readers. */
    private final class GraphTensors {

        private final Graph graph;
        private final Map<Integer, Integer> producers = new HashMap<>();
        private final Map<Integer, List<Integer>> consumers = new HashMap<>();
        private final Set<Integer> temporaries = new HashSet<>();
        private final Map<Integer, Integer> aliases = new HashMap<>();

        GraphTensors(Graph graph) {
            this.graph = graph;
            for (Operator operator : graph.operators()) {
                operator.outputs().forEach(id -> producers.putIfAbsent(id, operator.index()));
                for (int id : ImmutableSet.copyOf(operator.inputs())) {
                    consumers.computeIfAbsent(id, key -> new ArrayList<>()).add(operator.index());
                }
                temporaries.addAll(operator.temporaries());
            }
            for (List<Integer> shared : Iterables.getLast(input.variants()).aliasClasses()) {
                shared.stream().skip(1).forEach(id -> aliases.put(id, indices.get(shared.get(0))));
            }
        }

        ImmutableList<Tensor> all() {
            ImmutableList.Builder<Tensor> tensors = ImmutableList.builder();
            for (UsageRecord record : records) {
                int id = record.tensor();
                tensors.add(
                        tensor(
                                id,
                                record.bytes(),
                                new Interval(record.first(), record.last()),
                                temporaries.contains(id) ? MemoryMap.TEMPORARY : MemoryMap.ARENA));
            }
            for (int id : ends) {
                tensors.add(
                        tensor(
                                id,
                                graph.tensors().get(id).bytes(),
                                touched(graph, id),
                                MemoryMap.IO));
            }
            return tensors.build();
        }

        private Tensor tensor(int id, long bytes, Interval alive, String owner) {
            var tensor = graph.tensors().get(id);
            return new Tensor(
                    tensor.name(),
                    Optional.of(tensor.shape()),
                    Optional.of(tensor.type().name().toLowerCase(Locale.ROOT)),
                    bytes,
                    alive.first(),
                    alive.last(),
                    Optional.ofNullable(producers.get(id)),
                    consumers.getOrDefault(id, List.of()),
                    owner,
                    Optional.ofNullable(aliases.get(id)));
        }
    }
}
