package org.djlplan.cli;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** Writes tables of measurements as JSON. Partitions are numbered from 1, operators from 0. */
final class ProfileJson {

    private final SetNames names;
    private final Set<Entry.Measured> front;

    private ProfileJson(Graph graph, ProfileTable table) {
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
            boolean kept) {}

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
            boolean paretoFront) {}

    private record Wrong(String kind, List<Difference> errors) {}

    private record Failed(String kind, String failure, String message) {}

    private record Difference(ElementType type, double difference) {}

    /**
     * Returns one table, its entries in the order in which they were tried.
     *
     * @param facts that the measurements depend on, by name
     * @param kept whether a load finds this table
     */
    static JsonObject of(Graph graph, Map<String, String> facts, ProfileTable table, boolean kept) {
        ProfileJson json = new ProfileJson(graph, table);
        return Json.tree(
                        new Table(
                                facts,
                                ImmutableList.copyOf(table.partitions()),
                                table.entries().stream().map(json::entry).toList(),
                                json.set(table.chosen()),
                                table.reason(),
                                table.inferences(),
                                Figures.inSeconds(table.nanos()),
                                kept))
                .getAsJsonObject();
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
                    front.contains(measured));
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

    private static List<Difference> errors(List<OutputError> errors) {
        return errors.stream().map(each -> new Difference(each.type(), each.difference())).toList();
    }
}
