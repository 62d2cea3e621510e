package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Streams;

/**
 * The stored result of measuring delegation, as a part of reports: the table for loads without
 * options or, if there is none, the table that needs the fewest options.
 */
final class DelegationPart {

    /** Name of the part. */
    static final String NAME = "delegation";

    private DelegationPart() {}

    /** Returns the part of a {@code .tflite} file; empty if no result is stored. */
    static Optional<JsonElement> of(Path model) throws IOException {
        Graph graph = PlannedLoading.readFile(model);
        return ProfileStore.list(model, CacheFolder.get()).stream()
                .filter(kept -> fits(kept.value(), graph.operators().size()))
                .min(Comparator.comparingInt(kept -> KeyFacts.loads(kept.key().facts()).size()))
                .map(kept -> Json.sparse(new Tables(graph, kept).part()));
    }

    /**
     * A stored table is not compared with the model, and may be of another model with the same
     * facts.
     */
    private static boolean fits(ProfileTable table, int operators) {
        return table.partitions().stream()
                        .allMatch(partition -> partition.isEmpty() || partition.last() < operators)
                && table.entries().stream()
                        .map(entry -> entry.candidate().operators())
                        .allMatch(set -> set.isEmpty() || set.last() < operators);
    }

    private record Part(
            String origin,
            List<String> loads,
            Set<String> measuredAnewBy,
            List<Runs> operators,
            List<Partition> partitions,
            List<Timed> candidates,
            Optional<List<Output>> outputs) {}

    /** Where an operator runs. */
    private record Runs(
            int index, String type, String runs, String reason, OptionalInt partition) {}

    /**
     * @param bytesCrossing the bytes of the tensors that enter or leave the partition
     */
    private record Partition(SortedSet<Integer> operators, long bytesCrossing) {}

    /**
     * @param partitions positions in the list of partitions, from 0
     * @param verified always, because sets outside the tolerance are not timed
     */
    private record Timed(
            String name,
            List<Integer> partitions,
            int threads,
            long latencyNanos,
            long lowNanos,
            long highNanos,
            long memoryBytes,
            boolean pareto,
            boolean chosen,
            boolean verified) {}

    private record Output(String name, double difference, Optional<Double> noise, double limit) {}

    /** One table. */
    private static final class Tables {

        private final Graph graph;
        private final Kept<ProfileTable> kept;
        private final ProfileTable table;
        private final SetNames names;

        Tables(Graph graph, Kept<ProfileTable> kept) {
            this.graph = graph;
            this.kept = kept;
            table = kept.value();
            names = SetNames.of(graph, table.partitions());
        }

        Part part() {
            Set<Entry.Measured> front = ImmutableSet.copyOf(Pareto.front(table));
            return new Part(
                    table.reason(),
                    KeyFacts.loadsOptions(kept.key().facts()),
                    KeyFacts.KEYS,
                    Explained.of(graph, kept.key().facts(), table).lines().stream()
                            .map(this::runs)
                            .toList(),
                    table.partitions().stream()
                            .map(each -> new Partition(each, bytesCrossing(each)))
                            .toList(),
                    table.entries().stream()
                            .filter(Entry.Measured.class::isInstance)
                            .map(Entry.Measured.class::cast)
                            .map(entry -> timed(entry, front.contains(entry)))
                            .toList(),
                    table.measured(table.chosen()).map(this::outputs));
        }

        private Runs runs(Explained.Line line) {
            int index = line.operator().index();
            return new Runs(
                    index,
                    line.operator().type(),
                    line.verdict().isDelegated() ? "delegate" : "cpu",
                    Explained.text(line.verdict()),
                    IntStream.range(0, table.partitions().size())
                            .filter(i -> table.partitions().get(i).contains(index))
                            .findFirst());
        }

        private long bytesCrossing(Set<Integer> operators) {
            Set<Integer> written = new HashSet<>();
            Set<Integer> read = new HashSet<>();
            Set<Integer> writtenOutside = new HashSet<>(graph.inputs());
            Set<Integer> readOutside = new HashSet<>(graph.outputs());
            for (Operator operator : graph.operators()) {
                boolean inside = operators.contains(operator.index());
                (inside ? read : readOutside).addAll(operator.inputs());
                (inside ? written : writtenOutside).addAll(operator.outputs());
            }
            return bytes(read, writtenOutside) + bytes(written, readOutside);
        }

        private long bytes(Collection<Integer> some, Set<Integer> others) {
            return some.stream()
                    .filter(others::contains)
                    .map(graph.tensors()::get)
                    .filter(tensor -> tensor.storage() != Storage.CONSTANT)
                    .mapToLong(Tensor::bytes)
                    .sum();
        }

        private Timed timed(Entry.Measured entry, boolean pareto) {
            return new Timed(
                    names.name(entry.candidate()),
                    names.touched(entry.candidate()).stream().map(n -> n - 1).toList(),
                    entry.candidate().threads(),
                    entry.latency().medianNanos(),
                    entry.latency().lowNanos(),
                    entry.latency().highNanos(),
                    entry.memoryBytes(),
                    pareto,
                    entry.candidate().equals(table.chosen()),
                    true);
        }

        private List<Output> outputs(Entry.Measured chosen) {
            var tolerance = Explained.options(kept.key().facts()).tolerance();
            return Streams.zip(
                            graph.outputs().stream(),
                            chosen.errors().stream(),
                            (id, error) ->
                                    new Output(
                                            graph.tensors().get(id).name(),
                                            error.difference(),
                                            Optional.of(error.noise().largest())
                                                    .filter(
                                                            noise ->
                                                                    noise > 0
                                                                            && Double.isFinite(
                                                                                    noise)),
                                            tolerance.limit(error)))
                    .toList();
        }
    }
}
