package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.ChildProcess.End;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.ChildClasses.NoClassesException;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.internal.measure.Messages.Request;
import org.djlplan.memplan.internal.measure.Messages.Step;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs candidates in a child process.
 *
 * <p>If the process crashes or does not answer in time, the requested candidate counts as failed.
 * The next call starts another process, which prepares the other candidates again on request. After
 * several crashes every candidate counts as crashed. Not thread-safe.
 */
public final class ProcessRunner implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(ProcessRunner.class);

    /** Why no process can be started here; it does not change while this JVM runs. */
    private static volatile Optional<String> noClasses = Optional.empty();

    private final ModelRequest model;
    private final MeasuringJvm jvm;
    private final Limits limits;
    private final Urgency urgency;
    private final Machine machine;
    private final WorkTime workTime;

    /** The current process; empty if it has ended. */
    private Optional<MeasuringChild> child = Optional.empty();

    /** Number of processes so far. */
    private int starts;

    private boolean closed;

    /** The candidates that were prepared, and have neither failed nor been released since. */
    private final Map<Candidate, Prepared> prepared = new HashMap<>();

    private final UndisturbedTiming timing = new UndisturbedTiming();

    /**
     * A prepared candidate. A new process has none, but prepares them again on request.
     *
     * @param trial the result of its first preparation, in any process
     * @param slowestNanos its slowest inference so far
     * @param pid the process that prepared it last
     */
    private record Prepared(Trial trial, long slowestNanos, long pid) {

        Prepared timed(long nanos) {
            return new Prepared(trial, Math.max(slowestNanos, nanos), pid);
        }
    }

    /** The fraction of the last request's time in which the process was not delayed by others. */
    private double lastPart = 1;

    private ProcessRunner(
            ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency, Machine machine) {
        this.model = model;
        this.jvm = jvm;
        this.limits = limits;
        this.urgency = urgency;
        this.machine = machine;
        workTime = new WorkTime(machine);
    }

    /** Returns why no process can be started; empty if no obstacle is known. */
    static Optional<String> obstacle() {
        Path java = MeasuringJvm.DEFAULT.java();
        return Files.isExecutable(java)
                ? noClasses
                : Optional.of("there is no program " + java + " to start a process with");
    }

    /**
     * Starts a process that opens the model.
     *
     * @throws IOException if no process can be started, or it cannot open the model
     */
    static ProcessRunner start(ModelRequest model, Urgency urgency) throws IOException {
        try {
            return start(model, MeasuringJvm.DEFAULT, Limits.of(urgency), urgency, new Machine());
        } catch (NoClassesException e) {
            noClasses = Optional.of(e.getMessage());
            throw e;
        }
    }

    static ProcessRunner start(
            ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency, Machine machine)
            throws IOException {
        ProcessRunner runner = new ProcessRunner(model, jvm, limits, urgency, machine);
        try {
            MeasuringChild unused = runner.process();
            return runner;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a process was started");
        }
    }

    /** Returns the current process, or another one that has opened the model. */
    private MeasuringChild process() throws IOException, InterruptedException {
        checkState(!closed, "closed");
        if (child.isEmpty()) {
            if (isExhausted()) {
                throw new IOException("%d processes died: no more is started".formatted(starts));
            }
            starts++;
            child = Optional.of(MeasuringChild.start(jvm, model, urgency));
            try {
                child.get().open(model, limits, urgency);
            } catch (IOException | InterruptedException | RuntimeException e) {
                end();
                throw e;
            }
        }
        return child.get();
    }

    /** Returns whether so many processes have ended that no more is started. */
    private boolean isExhausted() {
        return starts > limits.restarts();
    }

    /** Ends the current process, if there is one. */
    private void end() {
        child.ifPresent(MeasuringChild::close);
        child = Optional.empty();
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        Request request = new Request(Step.PARTITIONS, Candidate.cpu(-1), 0);
        return ask(request, limits.prepare(), Messages::partitions);
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Prepared known = prepared.get(candidate);
        if (known != null) {
            return known.trial();
        }
        return blaming(candidate, () -> prepareInProcess(candidate));
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        return blaming(
                candidate,
                () -> {
                    long[] nanos = timing.time(() -> timeOnce(candidate, inferences));
                    long slowest = LongStream.of(nanos).max().orElse(0);
                    prepared.computeIfPresent(candidate, (same, known) -> known.timed(slowest));
                    return nanos;
                });
    }

    private UndisturbedTiming.Timing timeOnce(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        long[] nanos =
                askPrepared(
                        Step.TIME, candidate, inferences, json -> Messages.nanos(json, inferences));
        return new UndisturbedTiming.Timing(nanos, lastPart);
    }

    @Override
    public long[] timeEachShape(Candidate candidate)
            throws CandidateException, InterruptedException {
        return blaming(
                candidate, () -> askPrepared(Step.TIME_EACH_SHAPE, candidate, 1, Messages::nanos));
    }

    @Override
    public long workedNanos() {
        return urgency == Urgency.IN_BACKGROUND ? workTime.nanos() : System.nanoTime();
    }

    @Override
    public Optional<String> caveat() {
        return timing.caveat();
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        return blaming(
                candidate,
                () -> askPrepared(Step.PROFILE, candidate, inferences, Messages::nodeTimes));
    }

    @Override
    public void release(Candidate candidate) {
        boolean there = isInProcess(candidate);
        prepared.remove(candidate);
        if (!there) {
            return;
        }
        try {
            ask(new Request(Step.RELEASE, candidate, 0), limits.leastTiming(), Function.identity());
        } catch (CandidateException e) {
            logger.debug("while releasing {}", candidate, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the process. A second call does nothing. */
    @Override
    public void close() {
        closed = true;
        end();
    }

    /** Returns the id of the current process, if there is one. */
    Optional<Long> pid() {
        return child.map(MeasuringChild::pid);
    }

    private interface Action<T> {
        T run() throws CandidateException, InterruptedException;
    }

    /** A failed candidate is no longer prepared. */
    private <T> T blaming(Candidate candidate, Action<T> action)
            throws CandidateException, InterruptedException {
        try {
            return action.run();
        } catch (CandidateException e) {
            prepared.remove(candidate);
            throw e;
        }
    }

    private Trial prepareInProcess(Candidate candidate)
            throws CandidateException, InterruptedException {
        requireRoom();
        long start = System.nanoTime();
        Trial trial =
                ask(
                        new Request(Step.PREPARE, candidate, 0),
                        limits.prepare(),
                        json -> RecordJson.read(json, Trial.class));
        long nanos = (System.nanoTime() - start) / Math.max(1, trial.inferences());
        Prepared now = new Prepared(trial, nanos, pid().orElseThrow());
        return prepared.merge(
                        candidate,
                        now,
                        (before, after) ->
                                new Prepared(before.trial(), before.slowestNanos(), after.pid())
                                        .timed(nanos))
                .trial();
    }

    private boolean isInProcess(Candidate candidate) {
        Prepared known = prepared.get(candidate);
        return known != null && pid().equals(Optional.of(known.pid()));
    }

    /**
     * A process that exceeds the free memory would harm other processes, too. The first few
     * candidates are required for any choice; further ones are optional.
     */
    private void requireRoom() throws CandidateException {
        long needed = model.need().candidateBytes();
        long free = machine.memoryRoom().freeBytes();
        if (free < needed) {
            String message =
                    "%d MB of memory are left, another candidate may need %d"
                            .formatted(free >> 20, needed >> 20);
            long others = prepared.keySet().stream().filter(this::isInProcess).count();
            if (others < MemoryNeed.CANDIDATES) {
                throw new NoRoomException(message, false);
            }
            throw new CandidateException(Kind.REFUSED, message);
        }
    }

    private <T> T askPrepared(
            Step step, Candidate candidate, int inferences, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        if (!isInProcess(candidate)) {
            Trial unused = prepareInProcess(candidate);
        }
        return ask(
                new Request(step, candidate, inferences),
                limits.timing(inferences, prepared.get(candidate).slowestNanos()),
                reader);
    }

    private <T> T ask(Request request, Duration patience, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        Answer answer;
        try {
            answer = askAsGuest(process(), request, patience);
        } catch (IOException e) {
            if (isExhausted()) {
                throw new CandidateException(Kind.CRASHED, e.getMessage());
            }
            // The candidate was not run.
            throw new NoRoomException(e.getMessage(), false);
        } catch (InterruptedException e) {
            close();
            throw e;
        }
        if (answer instanceof Answer.Result result) {
            try {
                return reader.apply(result.value());
            } catch (RuntimeException e) {
                end();
                throw new CandidateException(
                        Kind.CRASHED, "the process sent an invalid answer: " + e);
            }
        }
        if (answer instanceof Answer.Failure failure) {
            throw new CandidateException(kind(failure), failure.message());
        }
        end();
        if (answer instanceof Answer.Lost lost && lost.end() != End.OTHER) {
            throw MeasuringChild.noRoom("the process to measure in " + lost.how(), lost);
        }
        if (answer instanceof Answer.Lost lost) {
            throw new CandidateException(Kind.CRASHED, "the process " + lost.how());
        }
        throw new CandidateException(
                Kind.TIMED_OUT, "no answer in %.0f s".formatted(patience.toMillis() / 1e3));
    }

    private Answer askAsGuest(MeasuringChild process, Request request, Duration patience)
            throws InterruptedException {
        if (urgency == Urgency.AWAITED) {
            return process.ask(request, patience);
        }
        WorkTime.Stint stint = workTime.begin(process);
        Answer answer = process.ask(request, patience);
        lastPart = stint.end();
        return answer;
    }

    private static Kind kind(Answer.Failure failure) {
        for (Kind kind : Kind.values()) {
            if (kind.name().equals(failure.kind())) {
                return kind;
            }
        }
        return Kind.REFUSED;
    }
}
