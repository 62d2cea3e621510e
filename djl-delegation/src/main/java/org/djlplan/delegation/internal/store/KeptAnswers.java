package org.djlplan.delegation.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult.Failure;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult.Known;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A runner that stores its answers, and repeats the answers that an interrupted measurement stored.
 * So a new measurement takes the same steps without running anything, up to the point of
 * interruption. Stored answers are used only after the delegate has reported the same partitions.
 */
public final class KeptAnswers implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(KeptAnswers.class);

    private final CandidateRunner inner;
    private final Path model;
    private final Optional<PartialResult> before;
    private final Consumer<PartialResult> keeper;
    private final long pauseNanos;
    private final Map<Candidate, Known> known = new LinkedHashMap<>();
    private final Map<Candidate, Integer> timesGiven = new HashMap<>();
    private final Set<Candidate> prepared = new HashSet<>();
    private Optional<List<Set<Integer>>> partitions = Optional.empty();
    private long givenNanos;
    private long keptNanos = System.nanoTime();

    /**
     * @param inner runs unknown candidates; closed with this
     * @param model file of the model
     * @param before the answers of an interrupted measurement
     * @param pauseNanos minimum time between two writes
     * @param keeper writes the answers
     */
    public KeptAnswers(
            CandidateRunner inner,
            Path model,
            Optional<PartialResult> before,
            long pauseNanos,
            Consumer<PartialResult> keeper) {
        this.inner = inner;
        this.model = model;
        this.before = before;
        this.pauseNanos = pauseNanos;
        this.keeper = keeper;
    }

    /**
     * Returns the stored answers of interrupted measurements of a model; answers that this request
     * could not have produced count as damaged, whatever their checksum.
     */
    public static FolderStore<PartialResult> store(DelegableModel model, Request request) {
        return FolderStore.at(
                new PartialCodec(request),
                model.file().toAbsolutePath().getParent(),
                model.cacheFolder());
    }

    private Known of(Candidate candidate) {
        return known.getOrDefault(candidate, PartialResult.UNKNOWN);
    }

    private void learn(Candidate candidate, Known now) {
        known.put(candidate, now);
        keep();
    }

    private void keep() {
        long now = System.nanoTime();
        if (partitions.isPresent() && now - keptNanos >= pauseNanos) {
            keeper.accept(new PartialResult(partitions.get(), known));
            keptNanos = System.nanoTime();
        }
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        if (partitions.isEmpty()) {
            partitions = Optional.of(asked());
            if (partitions.equals(before.map(PartialResult::partitions))) {
                known.putAll(before.orElseThrow().candidates());
            } else if (before.isPresent()) {
                logger.warn(
                        "{}: the partial results of an interrupted measurement do not match the"
                                + " partitions that the delegate reports; it is measured again",
                        model);
            }
            keep();
        }
        return partitions.get();
    }

    private List<Set<Integer>> asked() throws CandidateException, InterruptedException {
        try {
            return inner.partitions();
        } catch (CandidateException e) {
            logger.warn("{}: the delegate cannot be asked: {}", model, e.getMessage());
            throw e;
        }
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Known before = of(candidate);
        if (before.failure().isPresent()) {
            Failure failure = before.failure().get();
            throw new CandidateException(failure.kind(), failure.message());
        }
        if (before.trial().isEmpty()) {
            long start = inner.workedNanos();
            Trial trial = prepareNow(candidate);
            long nanos = inner.workedNanos() - start;
            learn(candidate, before.with(trial, nanos));
        } else if (!prepared.contains(candidate)) {
            givenNanos += before.prepareNanos();
        }
        return of(candidate).trial().orElseThrow();
    }

    /** Prepares a candidate in the process, if it is not prepared there. */
    private Trial prepareNow(Candidate candidate) throws CandidateException, InterruptedException {
        Trial trial = noting(candidate, () -> inner.prepare(candidate));
        prepared.add(candidate);
        return trial;
    }

    private interface Step<T> {
        T run() throws CandidateException, InterruptedException;
    }

    /** A candidate that crashed a process must not crash another one the next time. */
    private <T> T noting(Candidate candidate, Step<T> step)
            throws CandidateException, InterruptedException {
        try {
            return step.run();
        } catch (CandidateException e) {
            prepared.remove(candidate);
            if (e.kind() != CandidateException.Kind.REFUSED) {
                Failure failure = new Failure(e.kind(), String.valueOf(e.getMessage()));
                learn(candidate, of(candidate).with(failure));
            }
            throw e;
        }
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        ImmutableLongArray times = of(candidate).times();
        int given = timesGiven.getOrDefault(candidate, 0);
        if (times.length() - given >= inferences) {
            timesGiven.put(candidate, given + inferences);
            long[] kept = times.subArray(given, given + inferences).toArray();
            givenNanos += LongStream.of(kept).sum();
            return kept;
        }
        if (!prepared.contains(candidate)) {
            Trial unused = prepareNow(candidate);
        }
        long[] nanos = noting(candidate, () -> inner.time(candidate, inferences));
        ImmutableLongArray all = ImmutableLongArray.builder().addAll(times).addAll(nanos).build();
        timesGiven.put(candidate, all.length());
        learn(candidate, of(candidate).with(all));
        return nanos;
    }

    @Override
    public long[] timeEachShape(Candidate candidate)
            throws CandidateException, InterruptedException {
        return noting(candidate, () -> inner.timeEachShape(candidate));
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        Known before = of(candidate);
        if (!before.nodes().isEmpty()) {
            givenNanos += before.profileNanos();
            return before.nodes();
        }
        if (!prepared.contains(candidate)) {
            Trial unused = prepareNow(candidate);
        }
        long start = inner.workedNanos();
        List<NodeTime> nodes = noting(candidate, () -> inner.profile(candidate, inferences));
        long nanos = inner.workedNanos() - start;
        learn(candidate, before.with(nodes, nanos));
        return nodes;
    }

    /** Includes the time that stored answers originally took. */
    @Override
    public long workedNanos() {
        return inner.workedNanos() + givenNanos;
    }

    @Override
    public Optional<String> caveat() {
        return inner.caveat();
    }

    @Override
    public void release(Candidate candidate) {
        if (prepared.remove(candidate)) {
            inner.release(candidate);
        }
    }

    @Override
    public void close() {
        inner.close();
    }

    /**
     * The answers of an interrupted measurement.
     *
     * @param partitions reported by the delegate
     * @param candidates answers about each candidate that was run
     */
    public record PartialResult(List<Set<Integer>> partitions, Map<Candidate, Known> candidates) {

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
            partitions = ImmutableList.copyOf(partitions);
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
                checkArgument(prepareNanos >= 0 && profileNanos >= 0, "negative nanoseconds");
                checkArgument(times.stream().allMatch(t -> t >= 0), "negative nanoseconds");
            }

            /** Returns the duration of all its runs. */
            double nanos() {
                return (double) prepareNanos
                        + profileNanos
                        + times.stream().asDoubleStream().sum()
                        + nodes.stream().mapToDouble(NodeTime::nanos).sum();
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
     * Reads and writes partial results in files. An optional value is written as an array, which is
     * empty if the value is absent. The partitions are always present, but are also inside an array
     * of one element. Operators are written as the first and last index of each run.
     */
    private static final class PartialCodec implements Codec<PartialResult> {

        private static final int MOST_CANDIDATES = 4096;
        private static final int MOST_PARTITIONS = 10_000;
        private static final int MOST_NODES = 100_000;
        private static final int MOST_TIMES = 100_000;

        /** Two weeks; sums of smaller numbers do not overflow. */
        private static final long MOST_NANOS = 1L << 50;

        /** Limit of the number of runs for a candidate's outputs; a measurement takes a few. */
        private static final int MOST_INFERENCES = 1000;

        /** What results must match. */
        private final Request request;

        PartialCodec(Request request) {
            this.request = request;
        }

        private TableJson sets() {
            return new TableJson(request.graph().operators().size());
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
            json.beginObject().name("partitions").beginArray().beginArray();
            for (Set<Integer> partition : result.partitions()) {
                sets.write(json, ImmutableSortedSet.copyOf(partition));
            }
            json.endArray().endArray().name("candidates").beginArray();
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
                TableJson.write(json, known.trial().get());
            }
            json.endArray().name("failure").beginArray();
            if (known.failure().isPresent()) {
                json.value(known.failure().get().kind().name());
                json.value(known.failure().get().message());
            }
            json.endArray().name("prepareNanos").value(known.prepareNanos());
            json.name("nodes").beginArray();
            for (NodeTime node : known.nodes()) {
                sets.write(json, node);
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
            if (partitions.isEmpty()) {
                throw new IOException("no partitions");
            }
            return new PartialResult(partitions.get(0), candidates);
        }

        private static Map.Entry<Candidate, Known> entry(CheckedJson json, TableJson sets)
                throws IOException {
            json.beginObject();
            Candidate candidate = sets.readCandidate(json);
            List<Trial> trial = json.expect("trial").list(1, () -> TableJson.readTrial(json));
            List<String> failure = json.expect("failure").list(2, json::nextString);
            long prepareNanos = json.expect("prepareNanos").nextLong();
            List<NodeTime> nodes =
                    json.expect("nodes").list(MOST_NODES, () -> sets.readNodeTime(json));
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

        private static Optional<Failure> failure(List<String> parts) {
            return parts.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Failure(
                                    CandidateException.Kind.valueOf(parts.get(0)), parts.get(1)));
        }

        @Override
        public void check(PartialResult result) throws IOException {
            Set<Candidate> candidates = result.candidates().keySet();
            Set<Integer> unused = request.checkPrepared(result.partitions(), candidates);
            double nanos = 0;
            for (Map.Entry<Candidate, Known> entry : result.candidates().entrySet()) {
                nanos += entry.getValue().nanos();
                if (entry.getValue().trial().isPresent()) {
                    check(entry.getKey(), entry.getValue().trial().get());
                }
                check(entry.getKey(), entry.getValue().nodes());
            }
            if (nanos > MOST_NANOS) {
                throw new IOException("a measurement of more than two weeks");
            }
        }

        private void check(Candidate candidate, Trial trial) throws IOException {
            request.acceptance().check(trial.errors());
            if (trial.kernels() > candidate.operators().size()) {
                throw new IOException("more delegate kernels than operators for them");
            }
            if (trial.inferences() > MOST_INFERENCES) {
                throw new IOException(trial.inferences() + " inferences to compare outputs");
            }
        }

        /** Each operator is in one node: alone, or with others of the candidate in the delegate. */
        private static void check(Candidate candidate, List<NodeTime> nodes) throws IOException {
            Set<Integer> seen = new HashSet<>();
            for (NodeTime node : nodes) {
                boolean fits =
                        node.delegated()
                                ? candidate.operators().containsAll(node.operators())
                                : node.operators().size() == 1;
                if (!fits || !node.operators().stream().allMatch(seen::add)) {
                    throw new IOException("times of nodes that the candidate does not have");
                }
            }
        }
    }
}
