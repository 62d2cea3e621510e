package org.djlplan.memplan.internal.measure;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.ChildProcess.End;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
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
 * several crashes every candidate counts as crashed. Not thread-safe, but another thread may close
 * it; further calls then throw an IllegalStateException.
 */
public final class ProcessRunner implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(ProcessRunner.class);

    private final ModelRequest model;
    private final Limits limits;
    private final Urgency urgency;
    private final Machine machine;
    private final WorkTime workTime;
    private final ReplaceableChild child;
    private final PreparedCandidates candidates = new PreparedCandidates();
    private final UndisturbedTiming timing = new UndisturbedTiming();

    /** The fraction of the last request's time in which the process was not delayed by others. */
    private double lastPart = 1;

    private ProcessRunner(
            ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency, Machine machine) {
        this.model = model;
        this.limits = limits;
        this.urgency = urgency;
        this.machine = machine;
        workTime = new WorkTime(machine);
        child = new ReplaceableChild(model, jvm, limits, urgency);
    }

    /**
     * Starts a process that opens the model.
     *
     * @throws IOException if no process can be started, or it cannot open the model
     */
    static ProcessRunner start(ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency)
            throws IOException {
        return start(model, jvm, limits, urgency, new Machine());
    }

    static ProcessRunner start(
            ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency, Machine machine)
            throws IOException {
        ProcessRunner runner = new ProcessRunner(model, jvm, limits, urgency, machine);
        try {
            MeasuringChild unused = runner.child.get();
            return runner;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a process was started");
        }
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        return ask(Messages.request(Messages.PARTITIONS), limits.prepare(), Messages::partitions);
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Optional<Trial> known = candidates.trial(candidate);
        if (known.isPresent()) {
            return known.get();
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
                    LongStream.of(nanos).forEach(time -> candidates.noteInference(candidate, time));
                    return nanos;
                });
    }

    private UndisturbedTiming.Timing timeOnce(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        long[] nanos =
                askPrepared(
                        Messages.TIME,
                        candidate,
                        inferences,
                        json -> Messages.nanos(json, inferences));
        return new UndisturbedTiming.Timing(nanos, lastPart);
    }

    @Override
    public long[] timeEachShape(Candidate candidate)
            throws CandidateException, InterruptedException {
        return blaming(
                candidate,
                () -> askPrepared(Messages.TIME_EACH_SHAPE, candidate, 1, Messages::nanos));
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
                () -> askPrepared(Messages.PROFILE, candidate, inferences, Messages::nodeTimes));
    }

    @Override
    public void release(Candidate candidate) {
        boolean there = candidates.isInProcess(candidate);
        candidates.forget(candidate);
        if (!there || child.isClosed()) {
            return;
        }
        try {
            ask(
                    Messages.request(Messages.RELEASE, candidate),
                    limits.leastTiming(),
                    Function.identity());
        } catch (CandidateException e) {
            logger.debug("while releasing {}", candidate, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the process. A second call does nothing. */
    @Override
    public void close() {
        child.close();
    }

    /** Returns the id of the current process, if there is one. */
    Optional<Long> pid() {
        return child.pid();
    }

    private interface Step<T> {
        T run() throws CandidateException, InterruptedException;
    }

    /** A failed candidate is no longer prepared. */
    private <T> T blaming(Candidate candidate, Step<T> step)
            throws CandidateException, InterruptedException {
        try {
            return step.run();
        } catch (CandidateException e) {
            candidates.forget(candidate);
            throw e;
        }
    }

    private Trial prepareInProcess(Candidate candidate)
            throws CandidateException, InterruptedException {
        requireRoom();
        long start = System.nanoTime();
        Trial trial =
                ask(
                        Messages.request(Messages.PREPARE, candidate),
                        limits.prepare(),
                        Messages::trial);
        long nanos = (System.nanoTime() - start) / Math.max(1, trial.inferences());
        return candidates.add(candidate, trial, nanos);
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
            if (candidates.countInProcess() < MemoryNeed.CANDIDATES) {
                throw new NoRoomException(message, false);
            }
            throw new CandidateException(Kind.REFUSED, message);
        }
    }

    private <T> T askPrepared(
            String step, Candidate candidate, int inferences, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        if (!candidates.isInProcess(candidate)) {
            Trial unused = prepareInProcess(candidate);
        }
        return ask(
                Messages.request(step, candidate, inferences),
                limits.timing(inferences, candidates.slowestNanos(candidate)),
                reader);
    }

    private <T> T ask(JsonObject request, Duration patience, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        Answer answer;
        try {
            answer = askAsGuest(child.get(), request, patience);
        } catch (IOException e) {
            child.requireOpen();
            if (child.isExhausted()) {
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
                endProcess();
                throw new CandidateException(
                        Kind.CRASHED, "the process sent an invalid answer: " + e);
            }
        }
        // A process that ends because it was closed is not a candidate's failure.
        child.requireOpen();
        if (answer instanceof Answer.Failure failure) {
            throw new CandidateException(kind(failure), failure.message());
        }
        endProcess();
        if (answer instanceof Answer.Lost lost && lost.end() != End.OTHER) {
            throw MeasuringChild.noRoom("the process to measure in " + lost.how(), lost);
        }
        if (answer instanceof Answer.Lost lost) {
            throw new CandidateException(Kind.CRASHED, "the process " + lost.how());
        }
        throw new CandidateException(
                Kind.TIMED_OUT, "no answer in %.0f s".formatted(patience.toMillis() / 1e3));
    }

    private Answer askAsGuest(MeasuringChild process, JsonObject request, Duration patience)
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

    private void endProcess() {
        candidates.forgetProcess();
        child.end();
    }
}
