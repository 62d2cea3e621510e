package org.djlplan.cli.tune;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.cli.ReportPart;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.study.delegation.Verdict;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The stored result of measuring delegation, as a part of reports: the table for loads without
 * options or, if there is none, the table that needs the fewest options.
 */
public final class DelegationPart implements ReportPart {

    /** Called by ServiceLoader. */
    public DelegationPart() {}

    @Override
    public String name() {
        return "delegation";
    }

    @Override
    public Optional<JsonElement> of(Path model) throws IOException {
        Graph graph = TfLiteModels.graph(model);
        return ProfileStore.list(model, TfLiteModels.cacheFolder()).stream()
                .filter(kept -> fits(kept.value(), graph.operators().size()))
                .min(Comparator.comparingInt(kept -> KeyFacts.loads(kept.key().facts()).size()))
                .map(kept -> new Writer(graph, kept).part());
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

    /** Writes one table. */
    private static final class Writer {

        private final Graph graph;
        private final Kept<ProfileTable> kept;
        private final ProfileTable table;
        private final SetNames names;

        Writer(Graph graph, Kept<ProfileTable> kept) {
            this.graph = graph;
            this.kept = kept;
            table = kept.value();
            names = SetNames.of(graph, table.partitions());
        }

        JsonObject part() {
            JsonObject json = new JsonObject();
            json.addProperty("origin", table.reason());
            json.add("loads", texts(KeyFacts.loadsOptions(kept.key().facts())));
            json.add("measuredAnewBy", texts(KeyFacts.KEYS));
            json.add("operators", operators());
            JsonArray partitions = new JsonArray();
            table.partitions().forEach(partition -> partitions.add(partition(partition)));
            json.add("partitions", partitions);
            JsonArray candidates = new JsonArray();
            Set<Entry.Measured> front = ImmutableSet.copyOf(Pareto.front(table));
            table.entries().stream()
                    .filter(Entry.Measured.class::isInstance)
                    .map(Entry.Measured.class::cast)
                    .map(entry -> candidate(entry, front.contains(entry)))
                    .forEach(candidates::add);
            json.add("candidates", candidates);
            table.measured(table.chosen())
                    .ifPresent(chosen -> json.add("outputs", outputs(chosen)));
            return json;
        }

        private static JsonArray texts(Collection<String> texts) {
            JsonArray array = new JsonArray();
            texts.forEach(array::add);
            return array;
        }

        private JsonArray operators() {
            JsonArray operators = new JsonArray();
            Explained explained = Explained.of(graph, kept.key().facts(), table);
            for (Explained.Line line : explained.lines()) {
                Verdict verdict = line.verdict();
                JsonObject json = new JsonObject();
                json.addProperty("index", line.operator().index());
                json.addProperty("type", line.operator().type());
                json.addProperty("runs", verdict instanceof Verdict.Delegated ? "delegate" : "cpu");
                json.addProperty(
                        "reason",
                        verdict.reason().isEmpty()
                                ? verdict.kind()
                                : verdict.kind() + ": " + verdict.reason());
                for (int i = 0; i < table.partitions().size(); i++) {
                    if (table.partitions().get(i).contains(line.operator().index())) {
                        json.addProperty("partition", i);
                    }
                }
                operators.add(json);
            }
            return operators;
        }

        private JsonObject partition(SortedSet<Integer> operators) {
            JsonObject json = new JsonObject();
            json.add("operators", ProfileJson.numbers(operators));
            json.addProperty("bytesCrossing", bytesCrossing(operators));
            return json;
        }

        /** Returns the bytes of the tensors that enter or leave a set of operators. */
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

        private JsonObject candidate(Entry.Measured entry, boolean pareto) {
            JsonObject json = new JsonObject();
            json.addProperty("name", names.name(entry.candidate()));
            json.add(
                    "partitions",
                    ProfileJson.numbers(
                            // Positions in the list of partitions, from 0.
                            names.touched(entry.candidate()).stream().map(n -> n - 1).toList()));
            json.addProperty("threads", entry.candidate().threads());
            json.addProperty("latencyNanos", entry.latency().medianNanos());
            json.addProperty("lowNanos", entry.latency().lowNanos());
            json.addProperty("highNanos", entry.latency().highNanos());
            json.addProperty("memoryBytes", entry.memoryBytes());
            json.addProperty("pareto", pareto);
            json.addProperty("chosen", entry.candidate().equals(table.chosen()));
            // Sets outside the tolerance are not timed.
            json.addProperty("verified", true);
            return json;
        }

        private JsonArray outputs(Entry.Measured chosen) {
            var tolerance = Explained.options(kept.key().facts()).tolerance();
            List<Integer> ids = graph.outputs();
            JsonArray outputs = new JsonArray();
            for (int i = 0; i < Math.min(ids.size(), chosen.errors().size()); i++) {
                OutputError error = chosen.errors().get(i);
                JsonObject json = new JsonObject();
                json.addProperty("name", graph.tensors().get(ids.get(i)).name());
                json.add("difference", ProfileJson.number(error.difference()));
                if (error.noise().largest() > 0) {
                    json.add("noise", ProfileJson.number(error.noise().largest()));
                }
                json.add("limit", ProfileJson.number(tolerance.limit(error)));
                outputs.add(json);
            }
            return outputs;
        }
    }
}
