package org.djlplan.cli;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.ProfileStore;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Writes tables of measurements as JSON: for {@code djlplan tune}, and as a part of reports.
 * Partitions are numbered from 1, operators from 0.
 */
final class ProfileJson {

    private final Graph graph;
    private final ProfileTable table;
    private final Tolerance tolerance;
    private final SetNames names;
    private final Set<Entry.Measured> front;

    private ProfileJson(Graph graph, Map<String, String> facts, ProfileTable table) {
        this.graph = graph;
        this.table = table;
        tolerance = Explained.options(facts).tolerance();
        names = SetNames.of(graph, table.partitions());
        front = ImmutableSet.copyOf(Pareto.front(table));
    }

    private record Table(
            Map<String, String> key,
            List<SortedSet<Integer>> partitions,
            List<JsonObject> entries,
            Candidates chosen,
            String reason,
            int inferences,
            double seconds,
            boolean kept,
            Map<String, String> loads) {}

    private record Candidates(
            String set,
            List<Integer> partitions,
            SortedSet<Integer> operators,
            int threads,
            boolean transientBuffers,
            OptionalInt tfLiteFirstN) {}

    private record Measured(
            String kind,
            int kernels,
            double medianMillis,
            double lowMillis,
            double highMillis,
            int samples,
            long memoryBytes,
            List<Difference> errors,
            boolean paretoFront,
            boolean chosen) {}

    private record Wrong(String kind, List<Difference> errors) {}

    private record Failed(String kind, String failure, String message) {}

    /** The difference of an output, and what limits it. */
    private record Difference(
            String output, ElementType type, double difference, double noise, double limit) {}

    /**
     * Returns one table, its entries in the order in which they were tried.
     *
     * @param isKept whether a load finds this table
     * @param explained whether to say why each operator is delegated or not
     */
    static JsonObject of(Graph graph, Kept<ProfileTable> kept, boolean isKept, boolean explained) {
        Map<String, String> facts = kept.key().facts();
        ProfileTable table = kept.value();
        ProfileJson json = new ProfileJson(graph, facts, table);
        JsonObject tree =
                Json.tree(
                                new Table(
                                        facts,
                                        ImmutableList.copyOf(table.partitions()),
                                        table.entries().stream().map(json::entry).toList(),
                                        json.set(table.chosen()),
                                        table.reason(),
                                        table.inferences(),
                                        Figures.inSeconds(table.nanos()),
                                        isKept,
                                        isKept ? KeyFacts.loads(facts) : null))
                        .getAsJsonObject();
        if (explained) {
            tree.add("explanation", Explained.of(graph, facts, table).json());
        }
        return tree;
    }

    /**
     * Returns the stored table for loads without options or, if there is none, the table that needs
     * the fewest options; empty if no table is stored.
     *
     * @param model a {@code .tflite} file
     */
    static Optional<JsonObject> stored(Path model) throws IOException {
        Graph graph = PlannedLoading.readFile(model);
        return ProfileStore.list(model, CacheFolder.get()).stream()
                .filter(kept -> fits(kept.value(), graph.operators().size()))
                .min(Comparator.comparingInt(kept -> KeyFacts.loads(kept.key().facts()).size()))
                .map(kept -> of(graph, kept, true, true));
    }

    /**
     * A stored table is not compared with the model, and may be of another model with the same
     * facts.
     */
    private static boolean fits(ProfileTable table, int operators) {
        return Stream.concat(
                        table.partitions().stream(),
                        table.entries().stream().map(entry -> entry.candidate().operators()))
                .allMatch(set -> set.isEmpty() || set.last() < operators);
    }

    private JsonObject entry(Entry entry) {
        JsonObject json = Json.tree(set(entry.candidate())).getAsJsonObject();
        json.asMap().putAll(Json.tree(result(entry)).getAsJsonObject().asMap());
        return json;
    }

    private Record result(Entry entry) {
        if (entry instanceof Entry.Measured measured) {
            return new Measured(
                    "measured",
                    measured.kernels(),
                    Figures.inMillis(measured.latency().medianNanos()),
                    Figures.inMillis(measured.latency().lowNanos()),
                    Figures.inMillis(measured.latency().highNanos()),
                    measured.latency().samples(),
                    measured.memoryBytes(),
                    errors(measured.errors()),
                    front.contains(measured),
                    measured.candidate().equals(table.chosen()));
        }
        return entry instanceof Entry.Failed failed
                ? new Failed("failed", failed.kind().name(), failed.message())
                : new Wrong("wrong", errors(((Entry.Wrong) entry).errors()));
    }

    private Candidates set(Candidate candidate) {
        return new Candidates(
                names.name(candidate),
                names.touched(candidate),
                candidate.operators(),
                candidate.threads(),
                candidate.transientBuffers(),
                names.firstN(candidate));
    }

    private List<Difference> errors(List<OutputError> errors) {
        List<Difference> differences = new ArrayList<>();
        for (OutputError error : errors) {
            int place = differences.size();
            differences.add(
                    new Difference(
                            place < graph.outputs().size()
                                    ? graph.tensors().get(graph.outputs().get(place)).name()
                                    : "",
                            error.type(),
                            error.difference(),
                            error.noise().largest(),
                            tolerance.limit(error)));
        }
        return differences;
    }
}
