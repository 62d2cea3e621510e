package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
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

    /** A turn with a larger undelayed fraction counts as undisturbed. */
    private static final double UNDISTURBED = 0.95;

    private static final int TRIES = 3;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** After this many disturbed turns in a row, turns are not repeated any more. */
    private static final int HOPELESS = 5;

    private final OpenModelRequest model;
    private final MeasuringJvm jvm;
    private final Limits limits;
    private final Urgency urgency;
    private final Machine machine;
    private final WorkTime workTime;
    private int turns;
    private int disturbedTurns;

    /** Number of consecutive disturbed turns so far. */
    private int disturbedInARow;

    /** The fraction of the last request's time in which the process was not delayed by others. */
    private double lastPart = 1;

    /** The results of prepared candidates that were not released, in any process. */
    private final Map<Candidate, Trial> trials = new HashMap<>();

    /** The slowest inference of each prepared candidate. */
    private final Map<Candidate, Long> slowestNanos = new HashMap<>();

    /** The candidates that the current process has prepared. */
    private final Set<Candidate> inProcess = new HashSet<>();

    private int starts;

    /** Guarded by this. */
    private Optional<MeasuringChild> child = Optional.empty();

    /** Guarded by this. */
    private boolean closed;

    private ProcessRunner(
            OpenModelRequest model,
            MeasuringJvm jvm,
            Limits limits,
            Urgency urgency,
            Machine machine) {
        this.model = model;
        this.jvm = jvm;
        this.limits = limits;
        this.urgency = urgency;
        this.machine = machine;
        this.workTime = new WorkTime(machine);
    }

    /**
     * Starts a process that opens the model.
     *
     * @throws IOException if no process can be started, or it cannot open the model
     */
    static ProcessRunner start(
            OpenModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency)
            throws IOException {
        return start(model, jvm, limits, urgency, new Machine());
    }

    static ProcessRunner start(
            OpenModelRequest model,
            MeasuringJvm jvm,
            Limits limits,
            Urgency urgency,
            Machine machine)
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

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        return ask(Messages.request(Messages.PARTITIONS), limits.prepare(), Messages::partitions);
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Trial known = trials.get(candidate);
        if (known != null) {
            return known;
        }
        return blaming(candidate, () -> prepareInProcess(candidate));
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        return blaming(
                candidate,
                () -> {
                    long[] nanos = timeUndisturbed(candidate, inferences);
                    LongStream.of(nanos)
                            .forEach(time -> slowestNanos.merge(candidate, time, Math::max));
                    return nanos;
                });
    }

    /**
     * Repeats disturbed timings, a few times at most. If all of them are disturbed, the waiting
     * time of the process is subtracted evenly from the least disturbed turn, because it is unknown
     * which inference was delayed.
     */
    private long[] timeUndisturbed(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        turns++;
        long[] best = new long[0];
        double bestPart = 0;
        int tries = disturbedInARow < HOPELESS ? TRIES : 1;
        for (int i = 0; i < tries && bestPart < UNDISTURBED; i++) {
            TimeUnit.NANOSECONDS.sleep(i * PAUSE_NANOS);
            long[] nanos =
                    askPrepared(
                            Messages.TIME,
                            candidate,
                            inferences,
                            json -> Messages.nanos(json, inferences));
            if (lastPart > bestPart) {
                best = nanos;
                bestPart = lastPart;
            }
        }
        if (bestPart >= UNDISTURBED) {
            disturbedInARow = 0;
            return best;
        }
        disturbedTurns++;
        disturbedInARow++;
        double part = bestPart;
        return LongStream.of(best).map(time -> Math.max(1, Math.round(time * part))).toArray();
    }

    @Override
    public long workedNanos() {
        return urgency == Urgency.IN_BACKGROUND ? workTime.nanos() : System.nanoTime();
    }

    @Override
    public Optional<String> caveat() {
        return disturbedTurns * 4 > turns
                ? Optional.of(
                        "measured beside other work, which disturbed %d of %d turns"
                                .formatted(disturbedTurns, turns))
                : Optional.empty();
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
        boolean there = inProcess.contains(candidate);
        forget(candidate);
        if (!there || isClosed()) {
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
        Optional<MeasuringChild> last;
        synchronized (this) {
            closed = true;
            last = child;
            child = Optional.empty();
        }
        last.ifPresent(MeasuringChild::close);
    }

    /** Returns the id of the current process, if there is one. */
    synchronized Optional<Long> pid() {
        return child.map(MeasuringChild::pid);
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** A process that ends because it was closed is not a candidate's failure. */
    private void requireOpen() {
        checkState(!isClosed(), "closed");
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
            forget(candidate);
            throw e;
        }
    }

    private void forget(Candidate candidate) {
        trials.remove(candidate);
        slowestNanos.remove(candidate);
        inProcess.remove(candidate);
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
        slowestNanos.merge(candidate, nanos, Math::max);
        trials.putIfAbsent(candidate, trial);
        inProcess.add(candidate);
        return trials.get(candidate);
    }

    /**
     * A process that exceeds the free memory would harm other processes, too. The first few
     * candidates are required for any choice; further ones are optional.
     */
    private void requireRoom() throws CandidateException {
        long needed = model.need().candidateBytes();
        OptionalLong free = machine.headroomBytes();
        if (free.isPresent() && free.getAsLong() < needed) {
            String message =
                    "%d MB of memory are left, another candidate may need %d"
                            .formatted(free.getAsLong() >> 20, needed >> 20);
            if (inProcess.size() < MemoryNeed.CANDIDATES) {
                throw new NoRoomException(message, false);
            }
            throw new CandidateException(Kind.REFUSED, message);
        }
    }

    private <T> T askPrepared(
            String step, Candidate candidate, int inferences, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        if (!inProcess.contains(candidate)) {
            Trial unused = prepareInProcess(candidate);
        }
        return ask(
                Messages.request(step, candidate, inferences),
                limits.timing(inferences, slowestNanos.get(candidate)),
                reader);
    }

    private <T> T ask(JsonObject request, Duration patience, Function<JsonElement, T> reader)
            throws CandidateException, InterruptedException {
        Answer answer;
        try {
            answer = askAsGuest(process(), request, patience);
        } catch (IOException e) {
            requireOpen();
            throw new CandidateException(Kind.CRASHED, e.getMessage());
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
        requireOpen();
        if (answer instanceof Answer.Failure failure) {
            throw new CandidateException(kind(failure), failure.message());
        }
        endProcess();
        if (answer instanceof Answer.Lost lost && lost.end() != End.OTHER) {
            throw new NoRoomException("the process to measure in " + lost.how(), true);
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

    /** Returns the current process, or a new one if it has ended. */
    private MeasuringChild process() throws IOException, InterruptedException {
        MeasuringChild started;
        synchronized (this) {
            requireOpen();
            if (child.isPresent()) {
                return child.get();
            }
            if (starts > limits.restarts()) {
                throw new IOException("%d processes died: no more is started".formatted(starts));
            }
            starts++;
            started = MeasuringChild.start(jvm, model, urgency);
            child = Optional.of(started);
        }
        try {
            started.open(model, limits);
            return started;
        } catch (IOException | InterruptedException | RuntimeException e) {
            endProcess();
            throw e;
        }
    }

    private void endProcess() {
        inProcess.clear();
        Optional<MeasuringChild> dead;
        synchronized (this) {
            dead = child;
            child = Optional.empty();
        }
        dead.ifPresent(MeasuringChild::close);
    }
}
