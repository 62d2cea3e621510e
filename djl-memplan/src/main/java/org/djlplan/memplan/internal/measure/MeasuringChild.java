package org.djlplan.memplan.internal.measure;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.ChildProcess.End;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.memplan.internal.runtime.GuestProcess;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.math.LongMath;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One measuring process with its temporary files, from its start to its end. */
final class MeasuringChild implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(MeasuringChild.class);

    /** A process that is stopped for longer is ended, because other models wait for it. */
    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);

    private final ChildProcess process;
    private final TemporaryFolder folder;
    private final GuestProcess guest;

    private MeasuringChild(ChildProcess process, TemporaryFolder folder) {
        this.process = process;
        this.folder = folder;
        guest = new GuestProcess(process.pid());
    }

    /** Starts a process; {@link #open} must follow. */
    static MeasuringChild start(MeasuringJvm jvm, ModelRequest model, Urgency urgency)
            throws IOException {
        TemporaryFolder folder = TemporaryFolder.create();
        try {
            ProcessBuilder command = jvm.command(folder.path(), model);
            MeasuringChild child =
                    new MeasuringChild(ChildProcess.start(command, new PassedOn()), folder);
            child.makeGuest(model, urgency);
            return child;
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private void makeGuest(ModelRequest model, Urgency urgency) {
        guest.endFirst();
        if (urgency == Urgency.IN_BACKGROUND) {
            guest.giveWay(model.niceness());
        }
    }

    /** Passes the process's error stream on to the application's log, up to a limit. */
    private static final class PassedOn implements Consumer<String> {

        private static final int MOST_LINES = 500;
        private static final int LONGEST = 1000;

        private final AtomicInteger lines = new AtomicInteger();

        @Override
        public void accept(String line) {
            if (line.isBlank() || lines.incrementAndGet() > MOST_LINES) {
                return;
            }
            String text = Ascii.truncate(line, LONGEST, "…");
            // The engine logs this for each candidate; a crash is reported with its candidate.
            if (text.startsWith("INFO:") || text.startsWith("#")) {
                logger.debug("Measuring process: {}", text);
            } else {
                logger.info("Measuring process: {}", text);
            }
        }
    }

    /**
     * Waits for the process's hello message, and makes it open the model.
     *
     * @throws IOException if there is no hello, the protocol differs, or the model cannot be opened
     * @throws NoRoomException if the process was killed, or asked to end
     */
    void open(ModelRequest model, Limits limits, Urgency urgency)
            throws IOException, InterruptedException {
        JsonElement hello =
                require("start", patiently(limits.start(), process.await(LONGEST_STOP)));
        if (!hello.equals(Messages.hello())) {
            throw new IOException("a process to measure in speaks another protocol: " + hello);
        }
        // Threads that started before their starter's priority was lowered.
        makeGuest(model, urgency);
        List<Path> delegate = new ChildClasses(folder.path()).ofDelegate(model.delegate());
        JsonElement unused =
                require(
                        "open the model",
                        ask(Messages.Opening.of(model, delegate), limits.prepare()));
    }

    private static JsonElement require(String what, Answer answer) throws IOException {
        if (answer instanceof Answer.Result result) {
            return result.value();
        }
        String message = "a process to measure in did not " + what + ": " + describe(answer);
        if (answer instanceof Answer.Lost lost && lost.end() != End.OTHER) {
            throw noRoom(message, lost);
        }
        throw new IOException(message);
    }

    /** Returns the exception of a process that was killed, or asked to end. */
    static NoRoomException noRoom(String message, Answer.Lost lost) {
        return new NoRoomException(message, lost.end() != End.ASKED);
    }

    private static String describe(Answer answer) {
        if (answer instanceof Answer.Failure failure) {
            return failure.message();
        }
        if (answer instanceof Answer.Lost lost) {
            return "it " + lost.how();
        }
        return "no answer in " + ((Answer.Silent) answer).patience().toMillis() + " ms";
    }

    Answer ask(Record request, Duration patience) throws InterruptedException {
        return patiently(
                patience,
                process.ask(
                        RecordJson.tree(request).getAsJsonObject(), min(patience, LONGEST_STOP)));
    }

    /** Waits for an answer for as long as the process is not stopped. */
    private Answer patiently(Duration patience, Answer first) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + patience.minus(LONGEST_STOP).toNanos();
        Answer answer = first;
        boolean stopped = false;
        while (answer instanceof Answer.Silent && deadlineNanos - System.nanoTime() > 0) {
            boolean before = stopped;
            stopped = guest.isStopped();
            if (before && stopped) {
                process.kill();
                return new Answer.Lost("was stopped", End.ASKED);
            }
            answer = process.await(LONGEST_STOP);
        }
        return answer instanceof Answer.Silent ? new Answer.Silent(patience) : answer;
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Returns the process's id. */
    long pid() {
        return process.pid();
    }

    /** Returns the process's processor time, and how long it waited for processors. */
    GuestProcess.Times times() {
        return guest.times();
    }

    /** Kills the process. */
    @Override
    public void close() {
        // Before waiting: if this process ends now, the other one still deletes the rest.
        TemporaryFolder.delete(folder.path());
        process.kill();
        folder.close();
    }

    /**
     * Time limits of a process, and how often it may be restarted.
     *
     * @param start time until the process runs Java code
     * @param prepare time to open the model, to compute partitions, or to prepare a candidate
     * @param leastTiming minimum limit of timing or profiling, for fast candidates
     * @param multiple how many times as long as the candidate's slowest inference so far an
     *     inference may take, on average
     * @param restarts how many processes may replace the first one
     */
    record Limits(
            Duration start, Duration prepare, Duration leastTiming, int multiple, int restarts) {

        static final Limits DEFAULT =
                new Limits(
                        Duration.ofSeconds(20),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(10),
                        20,
                        8);

        /** For a low-priority process, which may get almost no processor time for a while. */
        private static final Limits PATIENT =
                new Limits(
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(15),
                        Duration.ofMinutes(10),
                        20 * 50,
                        DEFAULT.restarts());

        static Limits of(Urgency urgency) {
            return urgency == Urgency.IN_BACKGROUND ? PATIENT : DEFAULT;
        }

        /**
         * Returns the time limit of some inferences.
         *
         * @param slowestNanos the candidate's slowest inference so far
         */
        Duration timing(int inferences, long slowestNanos) {
            long runs = inferences + 1L;
            long nanos =
                    LongMath.saturatedMultiply(
                            LongMath.saturatedMultiply(runs, slowestNanos), multiple);
            return nanos > leastTiming.toNanos() ? Duration.ofNanos(nanos) : leastTiming;
        }
    }
}
