package org.djlplan.delegation.internal.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.store.AttemptStore.PartialResult.Failure;
import org.djlplan.delegation.internal.store.AttemptStore.PartialResult.Known;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * The files of an unfinished measurement, next to the model or in its cache folder: a mark that it
 * has begun, and its answers so far, so that it continues where it was interrupted.
 */
public final class AttemptStore {

    private AttemptStore() {}

    /**
     * A mark that measuring has begun; removed when it ends in any way, unless the JVM is killed.
     *
     * @param circumstances in which another attempt would end the same way
     * @param attempts number of attempts that ended in this way, or are running
     */
    public record Mark(String circumstances, int attempts) {}

    /** Returns the marks of a model. */
    public static FolderStore<Mark> marks(DelegableModel model) {
        return FolderStore.at(
                new MarkCodec(), model.file().toAbsolutePath().getParent(), model.cacheFolder());
    }

    /**
     * Returns the stored answers of interrupted measurements of a model; answers that this request
     * could not have produced count as damaged, whatever their checksum.
     */
    public static FolderStore<PartialResult> partialResults(DelegableModel model, Wanted wanted) {
        return FolderStore.at(
                new PartialCodec(wanted),
                model.file().toAbsolutePath().getParent(),
                model.cacheFolder());
    }

    /** Marks in files. */
    private static final class MarkCodec implements Codec<Mark> {

        @Override
        public String kind() {
            return "measuring-mark";
        }

        @Override
        public int version() {
            return 1;
        }

        @Override
        public String ending() {
            return ".measuring.json";
        }

        @Override
        public void write(JsonWriter json, Mark mark) throws IOException {
            json.beginObject().name("circumstances").value(mark.circumstances());
            json.name("attempts").value(mark.attempts()).endObject();
        }

        @Override
        public Mark read(CheckedJson json) throws IOException {
            json.beginObject();
            String circumstances = json.expect("circumstances").nextString();
            int attempts = json.expect("attempts").nextInt();
            json.endObject();
            return new Mark(circumstances, attempts);
        }

        /** In the worst case a forged mark prevents measuring. */
        @Override
        public void check(Mark mark) {}
    }

    /**
     * The answers of an interrupted measurement.
     *
     * @param partitions reported by the delegate; empty if they were not requested
     * @param candidates answers about each candidate that was run
     */
    public record PartialResult(
            Optional<List<Set<Integer>>> partitions, Map<Candidate, Known> candidates) {

        /** Nothing. */
        public static final PartialResult NONE = new PartialResult(Optional.empty(), Map.of());

        /** No answers about a candidate. */
        public static final Known UNKNOWN =
                new Known(
                        Optional.empty(),
                        Optional.empty(),
                        0,
                        List.of(),
                        0,
                        ImmutableLongArray.of());

        public PartialResult {
            partitions = partitions.map(ImmutableList::copyOf);
            candidates = ImmutableMap.copyOf(candidates);
        }

        /**
         * The answers about one candidate.
         *
         * @param trial result of its first runs; empty if it was not prepared
         * @param failure of its process; empty if there was none
         * @param prepareNanos duration of preparing it
         * @param nodes times of its nodes; empty if it was not profiled
         * @param profileNanos duration of profiling
         * @param times nanoseconds of each timed inference, in their order
         */
        public record Known(
                Optional<Trial> trial,
                Optional<Failure> failure,
                long prepareNanos,
                List<NodeTime> nodes,
                long profileNanos,
                ImmutableLongArray times) {

            public Known {
                nodes = ImmutableList.copyOf(nodes);
            }

            /** Returns this with a trial and its duration. */
            public Known with(Trial known, long nanos) {
                return new Known(
                        Optional.of(known), Optional.empty(), nanos, nodes, profileNanos, times);
            }

            /** Returns this with a failure. */
            public Known with(Failure known) {
                return new Known(
                        trial, Optional.of(known), prepareNanos, nodes, profileNanos, times);
            }

            /** Returns this with times of nodes and the duration of profiling. */
            public Known with(List<NodeTime> known, long nanos) {
                return new Known(trial, failure, prepareNanos, known, nanos, times);
            }

            /** Returns this with the times of inferences. */
            public Known with(ImmutableLongArray known) {
                return new Known(trial, failure, prepareNanos, nodes, profileNanos, known);
            }
        }

        /** The failure of a candidate. */
        public record Failure(CandidateException.Kind kind, String message) {}
    }

    /**
     * Reads and writes partial results in files. Optional values are arrays of one or no element;
     * operators are written as the first and last index of each run.
     */
    private static final class PartialCodec implements Codec<PartialResult> {

        private static final int MOST_CANDIDATES = 4096;
        private static final int MOST_PARTITIONS = 10_000;
        private static final int MOST_NODES = 100_000;
        private static final int MOST_TIMES = 100_000;

        private final Wanted wanted;

        /**
         * @param wanted the request that results must match
         */
        PartialCodec(Wanted wanted) {
            this.wanted = wanted;
        }

        private TableJson sets() {
            return new TableJson(wanted.request().graph().operators().size());
        }

        @Override
        public String kind() {
            return "partial-profile";
        }

        @Override
        public int version() {
            return 3;
        }

        @Override
        public String ending() {
            return ".partial.json";
        }

        @Override
        public void write(JsonWriter json, PartialResult result) throws IOException {
            TableJson sets = sets();
            json.beginObject().name("partitions").beginArray();
            if (result.partitions().isPresent()) {
                json.beginArray();
                for (Set<Integer> partition : result.partitions().get()) {
                    sets.write(json, ImmutableSortedSet.copyOf(partition));
                }
                json.endArray();
            }
            json.endArray().name("candidates").beginArray();
            for (Map.Entry<Candidate, Known> known : result.candidates().entrySet()) {
                json.beginObject();
                sets.write(json, known.getKey());
                write(json, known.getValue(), sets);
                json.endObject();
            }
            json.endArray().endObject();
        }

        private static void write(JsonWriter json, Known known, TableJson sets) throws IOException {
            json.name("trial").beginArray();
            if (known.trial().isPresent()) {
                Trial trial = known.trial().get();
                json.beginObject().name("partitions").value(trial.kernels());
                TableJson.writeErrors(json, trial.errors());
                json.name("memoryBytes").value(trial.memoryBytes());
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
                sets.write(json.name("operators"), node.operators());
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
            TableJson sets = sets();
            json.beginObject();
            List<List<Set<Integer>>> partitions =
                    json.expect("partitions")
                            .list(
                                    1,
                                    () ->
                                            json.list(
                                                    MOST_PARTITIONS,
                                                    () -> (Set<Integer>) sets.read(json)));
            Map<Candidate, Known> candidates = new HashMap<>();
            List<Map.Entry<Candidate, Known>> entries =
                    json.expect("candidates").list(MOST_CANDIDATES, () -> entry(json, sets));
            for (Map.Entry<Candidate, Known> entry : entries) {
                if (candidates.put(entry.getKey(), entry.getValue()) != null) {
                    throw new IOException("a candidate twice");
                }
            }
            json.endObject();
            return new PartialResult(partitions.stream().findFirst(), candidates);
        }

        private static Map.Entry<Candidate, Known> entry(CheckedJson json, TableJson sets)
                throws IOException {
            json.beginObject();
            Candidate candidate = sets.readCandidate(json);
            List<Trial> trial = json.expect("trial").list(1, () -> trial(json));
            List<String> failure = json.expect("failure").list(2, json::nextString);
            long prepareNanos = json.expect("prepareNanos").nextLong();
            List<NodeTime> nodes = json.expect("nodes").list(MOST_NODES, () -> node(json, sets));
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
            List<OutputError> errors = TableJson.readErrors(json);
            long memoryBytes = json.expect("memoryBytes").nextLong();
            int inferences = json.expect("inferences").nextInt();
            json.endObject();
            return new Trial(partitions, errors, memoryBytes, inferences);
        }

        private static NodeTime node(CheckedJson json, TableJson sets) throws IOException {
            json.beginObject();
            SortedSet<Integer> taken = sets.read(json.expect("operators"));
            boolean delegated = json.expect("delegated").nextBoolean();
            NodeTime node = new NodeTime(taken, delegated, json.expect("nanos").nextLong());
            json.endObject();
            return node;
        }

        private static Optional<Failure> failure(List<String> parts) {
            return parts.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Failure(
                                    CandidateException.Kind.valueOf(parts.get(0)), parts.get(1)));
        }

        @Override
        public void check(PartialResult result) throws IOException {
            wanted.check(result);
        }
    }
}
