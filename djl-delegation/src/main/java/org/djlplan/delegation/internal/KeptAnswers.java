package org.djlplan.delegation.internal;

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
import org.djlplan.delegation.internal.store.AttemptStore.PartialResult;
import org.djlplan.delegation.internal.store.AttemptStore.PartialResult.Failure;
import org.djlplan.delegation.internal.store.AttemptStore.PartialResult.Known;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A runner that stores its answers, and repeats those that an interrupted measurement stored: the
 * same steps are taken again without running anything, up to the point of interruption. Stored
 * answers are used only after the delegate has reported the same partitions.
 */
final class KeptAnswers implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(KeptAnswers.class);

    private final CandidateRunner inner;
    private final Path model;
    private final PartialResult before;
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
     * @param before stored answers
     * @param pauseNanos minimum time between two writes
     * @param keeper writes the answers
     */
    KeptAnswers(
            CandidateRunner inner,
            Path model,
            PartialResult before,
            long pauseNanos,
            Consumer<PartialResult> keeper) {
        this.inner = inner;
        this.model = model;
        this.before = before;
        this.pauseNanos = pauseNanos;
        this.keeper = keeper;
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
        if (now - keptNanos >= pauseNanos) {
            keeper.accept(new PartialResult(partitions, known));
            keptNanos = System.nanoTime();
        }
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        if (partitions.isEmpty()) {
            partitions = Optional.of(asked());
            if (partitions.equals(before.partitions())) {
                known.putAll(before.candidates());
            } else if (before.partitions().isPresent()) {
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
}
