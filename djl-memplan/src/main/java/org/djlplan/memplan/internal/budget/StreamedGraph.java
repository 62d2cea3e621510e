package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.usage.AliasAnalysis;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Iterables;

/**
 * A model's graph, and the constants that are loaded while it runs: those of at least a page that
 * begin at a page boundary of the file. Other constants stay in memory.
 */
public final class StreamedGraph {

    /**
     * Uses of a piece with fewer steps between them are merged; the piece stays in memory between
     * them.
     */
    private static final int GAP_STEPS = 4;

    private final Graph graph;
    private final Map<Integer, View> views;
    private final Set<Integer> elided;
    private final List<Piece> pieces = new ArrayList<>();
    private final Map<Integer, UsageRecord> records;

    /**
     * Tensors without a writer, which are bound at their only step like pieces instead of being
     * placed: step by tensor.
     */
    private final Map<Integer, Integer> stepOfUnmade = new TreeMap<>();

    /**
     * A range of whole pages in the file, and the tensors that lie in it, by the step that reads
     * them.
     */
    private static final class Piece {
        private final FileRegion region;
        private final TreeMap<Integer, List<Integer>> readers = new TreeMap<>();

        Piece(FileRegion region) {
            this.region = region;
        }

        void readAt(int step, int tensor) {
            readers.computeIfAbsent(step, s -> new ArrayList<>()).add(tensor);
        }

        long bytes() {
            return WeightUse.roundUp(region.lengthBytes());
        }
    }

    /** One use of a piece, as in the problem. */
    private record Use(int piece, int first, int last) {}

    /**
     * @param graph from the engine, including kernels' temporaries
     * @param views tensors that lie inside others if possible
     * @param derived data that kernels derived from constants; these constants are no longer read
     */
    public StreamedGraph(Graph graph, List<View> views, List<DerivedConstant> derived) {
        this.graph = graph;
        records = records(graph);
        this.views = possible(views, records);
        elided = elided(graph, this.views);
        merge(records, this.views.values());
        collectPieces(derived);
    }

    private static Map<Integer, UsageRecord> records(Graph graph) {
        Map<Integer, UsageRecord> records = new TreeMap<>();
        for (UsageRecord record : UsageRecords.of(graph)) {
            records.put(record.tensor(), record);
        }
        return records;
    }

    private static Map<Integer, View> possible(
            List<View> views, Map<Integer, UsageRecord> records) {
        Map<Integer, View> possible = new TreeMap<>();
        for (View view : views) {
            if (records.containsKey(view.tensor()) && records.containsKey(view.of())) {
                possible.put(view.tensor(), view);
            }
        }
        return possible;
    }

    /**
     * Returns the steps that need not run: a slice that is a view, or a concatenation whose parts
     * are all views.
     */
    private static Set<Integer> elided(Graph graph, Map<Integer, View> views) {
        Set<Integer> elided = new HashSet<>();
        for (Operator operator : graph.operators()) {
            int output = operator.outputs().isEmpty() ? -1 : operator.outputs().get(0);
            boolean slices =
                    operator.type().equals("SLICE")
                            && views.containsKey(output)
                            && root(views, operator.inputs().get(0)) == views.get(output).of();
            boolean concatenates =
                    operator.type().equals("CONCATENATION")
                            && operator.inputs().stream()
                                    .allMatch(
                                            input ->
                                                    views.containsKey(input)
                                                            && views.get(input).of()
                                                                    == root(views, output));
            if (slices || concatenates) {
                elided.add(operator.index());
            }
        }
        return elided;
    }

    private static int root(Map<Integer, View> views, int tensor) {
        return views.containsKey(tensor) ? views.get(tensor).of() : tensor;
    }

    private static void merge(Map<Integer, UsageRecord> records, Collection<View> views) {
        for (View view : views) {
            UsageRecord inner = records.remove(view.tensor());
            UsageRecord outer = records.get(view.of());
            records.put(
                    view.of(),
                    new UsageRecord(
                            view.of(),
                            Math.min(inner.first(), outer.first()),
                            Math.max(inner.last(), outer.last()),
                            outer.bytes()));
        }
    }

    private void collectPieces(List<DerivedConstant> derived) {
        Map<Integer, Set<Integer>> replaced = new HashMap<>();
        Map<FileRegion, Piece> byRegion = new HashMap<>();
        for (DerivedConstant each : derived) {
            if (each.region().isEmpty()) {
                stepOfUnmade.put(each.tensor(), each.step());
                continue;
            }
            records.remove(each.tensor());
            replaced.computeIfAbsent(each.step(), step -> new HashSet<>()).add(each.constant());
            byRegion.computeIfAbsent(each.region().get(), Piece::new)
                    .readAt(each.step(), each.tensor());
        }
        for (Operator operator : graph.operators()) {
            if (elided.contains(operator.index()) || operator.type().equals(Operator.DELEGATE)) {
                // A delegate has packed its inputs.
                continue;
            }
            Set<Integer> unread = replaced.getOrDefault(operator.index(), Set.of());
            for (int id : new HashSet<>(operator.inputs())) {
                Tensor tensor = graph.tensors().get(id);
                if (!unread.contains(id) && isStreamed(tensor)) {
                    byRegion.computeIfAbsent(tensor.region().orElseThrow(), Piece::new)
                            .readAt(operator.index(), id);
                }
            }
        }
        byRegion.values().stream()
                .sorted(
                        Comparator.<Piece>comparingInt(piece -> piece.readers.firstKey())
                                .thenComparingLong(piece -> piece.region.offsetBytes()))
                .forEach(pieces::add);
    }

    private static boolean isStreamed(Tensor tensor) {
        return tensor.storage() == Storage.CONSTANT
                && tensor.region()
                        .filter(
                                region ->
                                        region.offsetBytes() % WeightUse.PAGE_BYTES == 0
                                                && region.lengthBytes() >= WeightUse.PAGE_BYTES)
                        .isPresent();
    }

    /** Returns the number of steps. */
    public int steps() {
        return graph.operators().size();
    }

    /** Returns the number of pieces. */
    public int pieces() {
        return pieces.size();
    }

    /** Returns the bytes of all pieces. */
    public long weightBytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    /** Returns the constants that would be loaded if a step read them, in the order of the file. */
    public List<FileRegion> unread() {
        Set<FileRegion> read = new HashSet<>();
        pieces.forEach(piece -> read.add(piece.region));
        return graph.tensors().stream()
                .filter(StreamedGraph::isStreamed)
                .map(tensor -> tensor.region().orElseThrow())
                .filter(region -> !read.contains(region))
                .distinct()
                .sorted(Comparator.comparingLong(FileRegion::offsetBytes))
                .toList();
    }

    /** Returns the type of a step's operator, and the name of its output, for people. */
    public String nameOf(int step) {
        Operator operator = graph.operators().get(step);
        Optional<String> name =
                operator.outputs().stream()
                        .map(id -> graph.tensors().get(id).name())
                        .filter(text -> !text.isEmpty())
                        .findFirst();
        return "operator "
                + step
                + " ("
                + operator.type()
                + name.map(n -> " " + n).orElse("")
                + ")";
    }

    /** Returns the planning problem. */
    public StreamingProblem problem(StepCosts costs) {
        return problem(costs, Set.of());
    }

    /**
     * Returns the remaining problem if a delegate ran some steps: the delegate keeps the weights of
     * these steps, and the engine keeps their inputs and outputs.
     *
     * @param costs with the delegate's times for its steps
     */
    public StreamingProblem problem(StepCosts costs, Set<Integer> delegated) {
        List<WeightUse> weights = new ArrayList<>();
        for (Use use : uses(delegated)) {
            weights.add(
                    new WeightUse(
                            use.piece(), use.first(), use.last(), pieces.get(use.piece()).bytes()));
        }
        return new StreamingProblem(activations(touched(delegated)), weights, costs);
    }

    /** Returns the placed tensors that steps use, including those inside other tensors. */
    private Set<Integer> touched(Set<Integer> steps) {
        Set<Integer> touched = new HashSet<>();
        for (int step : steps) {
            Operator operator = graph.operators().get(step);
            for (int id :
                    Iterables.concat(
                            operator.inputs(), operator.outputs(), operator.temporaries())) {
                touched.add(root(views, id));
            }
        }
        return touched;
    }

    /** Returns whether a step reads or writes a tensor that lies inside another one. */
    public boolean touchesViews(int step) {
        Set<Integer> roots = new HashSet<>();
        views.values().forEach(view -> roots.add(view.of()));
        return touched(Set.of(step)).stream().anyMatch(roots::contains);
    }

    /** Returns the graph. */
    public Graph graph() {
        return graph;
    }

    private PlanningProblem activations(Set<Integer> without) {
        Set<Integer> fixed = new HashSet<>(views.keySet());
        views.values().forEach(view -> fixed.add(view.of()));
        List<ImmutableList<Integer>> classes =
                AliasAnalysis.aliasClasses(graph).stream()
                        .filter(members -> Collections.disjoint(members, fixed))
                        .toList();
        return without.isEmpty()
                ? new PlanningProblem(ImmutableList.copyOf(records.values()), classes)
                : new PlanningProblem(
                        records.values().stream()
                                .filter(record -> !without.contains(record.tensor()))
                                .collect(ImmutableList.toImmutableList()),
                        classes.stream()
                                .filter(members -> Collections.disjoint(members, without))
                                .toList());
    }

    /** Returns the uses of all pieces, by their first step. */
    private List<Use> uses(Set<Integer> delegated) {
        List<Use> uses = new ArrayList<>();
        for (int piece = 0; piece < pieces.size(); piece++) {
            int first = -1;
            int last = -1;
            for (int step : pieces.get(piece).readers.keySet()) {
                if (delegated.contains(step)) {
                    continue;
                }
                if (first >= 0 && step - last > GAP_STEPS) {
                    uses.add(new Use(piece, first, last));
                    first = -1;
                }
                first = first < 0 ? step : first;
                last = step;
            }
            if (first >= 0) {
                uses.add(new Use(piece, first, last));
            }
        }
        uses.sort(Comparator.comparingInt(Use::first).thenComparingInt(Use::piece));
        return uses;
    }

    /**
     * Returns a plan in terms of the engine and the file.
     *
     * @param plan a valid plan of {@link #problem}
     */
    public Schedule schedule(StreamingPlan plan) {
        List<Use> uses = uses(Set.of());
        List<Schedule.Load> loads = new ArrayList<>();
        List<Schedule.Binding> bindings = new ArrayList<>();
        int[] needs = new int[steps()];
        for (StreamingPlan.Load load : plan.loads()) {
            Use use = uses.get(load.use());
            Piece piece = pieces.get(use.piece());
            loads.add(
                    new Schedule.Load(
                            piece.region.offsetBytes(),
                            piece.bytes(),
                            load.offsetBytes(),
                            load.after(),
                            load.pinned()));
            needs[use.first()] = Math.max(needs[use.first()], loads.size());
            piece.readers
                    .subMap(use.first(), true, use.last(), true)
                    .forEach(
                            (step, tensors) ->
                                    tensors.forEach(
                                            tensor ->
                                                    bindings.add(
                                                            new Schedule.Binding(
                                                                    step,
                                                                    tensor,
                                                                    load.offsetBytes()))));
        }
        stepOfUnmade.forEach(
                (tensor, step) ->
                        bindings.add(new Schedule.Binding(step, tensor, offset(plan, tensor))));
        bindings.sort(
                Comparator.comparingInt(Schedule.Binding::step)
                        .thenComparingInt(Schedule.Binding::tensor));
        List<Integer> cumulated = new ArrayList<>();
        int most = 0;
        for (int need : needs) {
            most = Math.max(most, need);
            cumulated.add(most);
        }
        List<Boolean> nothing = new ArrayList<>();
        for (int step = 0; step < steps(); step++) {
            nothing.add(elided.contains(step));
        }
        // The arena exists even if a delegate runs everything and nothing lies in it.
        long arenaBytes = Math.max(WeightUse.PAGE_BYTES, plan.arenaBytes());
        return new Schedule(arenaBytes, places(plan), loads, cumulated, bindings, nothing);
    }

    private Map<Integer, Long> places(StreamingPlan plan) {
        ImmutableMap.Builder<Integer, Long> places = ImmutableMap.builder();
        for (int tensor : records.keySet()) {
            if (!stepOfUnmade.containsKey(tensor)) {
                places.put(tensor, offset(plan, tensor));
            }
        }
        for (View view : views.values()) {
            places.put(view.tensor(), offset(plan, view.of()) + view.offsetBytes());
        }
        return places.buildOrThrow();
    }

    private static long offset(StreamingPlan plan, int tensor) {
        PlanningProblem activations = plan.problem().activations();
        return plan.activationOffsets().get(activations.unitOf(tensor));
    }
}
