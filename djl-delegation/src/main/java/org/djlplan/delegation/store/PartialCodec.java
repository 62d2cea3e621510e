package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.store.PartialResult.Failure;
import org.djlplan.delegation.store.PartialResult.Known;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Trial;
import org.djlplan.memplan.store.CheckedJson;
import org.djlplan.memplan.store.Codec;

/**
 * Partial results in files. What may be there or not is an array of one or no element; operators
 * are written as the first and the last of each run of them.
 */
final class PartialCodec implements Codec<PartialResult> {

    private static final int MOST_CANDIDATES = 4096;
    private static final int MOST_PARTITIONS = 10_000;
    private static final int MOST_NODES = 100_000;
    private static final int MOST_TIMES = 100_000;
    private static final int MOST_OUTPUTS = 10_000;

    private final Wanted wanted;

    /**
     * @param wanted what is asked of results
     */
    PartialCodec(Wanted wanted) {
        this.wanted = wanted;
    }

    private OperatorRuns runs() {
        return new OperatorRuns(wanted.graph().operators().size());
    }

    @Override
    public String kind() {
        return "partial-profile";
    }

    @Override
    public int version() {
        return 2;
    }

    @Override
    public String ending() {
        return ".partial.json";
    }

    @Override
    public void write(JsonWriter json, PartialResult result) throws IOException {
        OperatorRuns runs = runs();
        json.beginObject().name("partitions").beginArray();
        if (result.partitions().isPresent()) {
            json.beginArray();
            for (Set<Integer> partition : result.partitions().get()) {
                runs.write(json, ImmutableSortedSet.copyOf(partition));
            }
            json.endArray();
        }
        json.endArray().name("candidates").beginArray();
        for (Map.Entry<Candidate, Known> known : result.candidates().entrySet()) {
            json.beginObject();
            runs.write(json.name("operators"), known.getKey().operators());
            json.name("threads").value(known.getKey().threads());
            write(json, known.getValue(), runs);
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static void write(JsonWriter json, Known known, OperatorRuns runs) throws IOException {
        json.name("trial").beginArray();
        if (known.trial().isPresent()) {
            Trial trial = known.trial().get();
            json.beginObject().name("partitions").value(trial.partitions());
            json.name("errors").beginArray();
            for (OutputError error : trial.errors()) {
                ErrorCodec.write(json, error);
            }
            json.endArray().name("memoryBytes").value(trial.memoryBytes());
            json.name("inferences").value(trial.inferences()).endObject();
        }
        json.endArray().name("failure").beginArray();
        if (known.failure().isPresent()) {
            json.value(known.failure().get().kind().name());
            json.value(known.failure().get().message());
        }
        json.endArray().name("prepareNanos").value(known.prepareNanos());
        json.name("nodes").beginArray();
        for (NodeTime node : known.nodes()) {
            json.beginObject();
            runs.write(json.name("operators"), node.operators());
            json.name("delegated").value(node.delegated());
            json.name("nanos").value(node.nanos()).endObject();
        }
        json.endArray().name("profileNanos").value(known.profileNanos());
        json.name("times").beginArray();
        for (int i = 0; i < known.times().length(); i++) {
            json.value(known.times().get(i));
        }
        json.endArray();
    }

    @Override
    public PartialResult read(CheckedJson json) throws IOException {
        OperatorRuns runs = runs();
        json.beginObject();
        List<List<Set<Integer>>> partitions =
                json.expect("partitions")
                        .list(
                                1,
                                () ->
                                        json.list(
                                                MOST_PARTITIONS,
                                                () -> (Set<Integer>) runs.read(json)));
        Map<Candidate, Known> candidates = new HashMap<>();
        List<Map.Entry<Candidate, Known>> entries =
                json.expect("candidates").list(MOST_CANDIDATES, () -> entry(json, runs));
        for (Map.Entry<Candidate, Known> entry : entries) {
            if (candidates.put(entry.getKey(), entry.getValue()) != null) {
                throw new IOException("a candidate twice");
            }
        }
        json.endObject();
        return new PartialResult(partitions.stream().findFirst(), candidates);
    }

    private static Map.Entry<Candidate, Known> entry(CheckedJson json, OperatorRuns runs)
            throws IOException {
        json.beginObject();
        SortedSet<Integer> taken = runs.read(json.expect("operators"));
        Candidate candidate = new Candidate(taken, json.expect("threads").nextInt());
        List<Trial> trial = json.expect("trial").list(1, () -> trial(json));
        List<String> failure = json.expect("failure").list(2, json::nextString);
        long prepareNanos = json.expect("prepareNanos").nextLong();
        List<NodeTime> nodes = json.expect("nodes").list(MOST_NODES, () -> node(json, runs));
        long profileNanos = json.expect("profileNanos").nextLong();
        ImmutableLongArray times = json.expect("times").numbers(MOST_TIMES);
        json.endObject();
        return Map.entry(
                candidate,
                new Known(
                        trial.stream().findFirst(),
                        failure(failure),
                        prepareNanos,
                        nodes,
                        profileNanos,
                        times));
    }

    private static Trial trial(CheckedJson json) throws IOException {
        json.beginObject();
        int partitions = json.expect("partitions").nextInt();
        List<OutputError> errors =
                json.expect("errors").list(MOST_OUTPUTS, () -> ErrorCodec.read(json));
        long memoryBytes = json.expect("memoryBytes").nextLong();
        int inferences = json.expect("inferences").nextInt();
        json.endObject();
        return new Trial(partitions, errors, memoryBytes, inferences);
    }

    private static NodeTime node(CheckedJson json, OperatorRuns runs) throws IOException {
        json.beginObject();
        SortedSet<Integer> taken = runs.read(json.expect("operators"));
        boolean delegated = json.expect("delegated").nextBoolean();
        NodeTime node = new NodeTime(taken, delegated, json.expect("nanos").nextLong());
        json.endObject();
        return node;
    }

    private static Optional<Failure> failure(List<String> parts) {
        return parts.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Failure(CandidateException.Kind.valueOf(parts.get(0)), parts.get(1)));
    }

    @Override
    public void check(PartialResult result) throws IOException {
        wanted.check(result);
    }
}
