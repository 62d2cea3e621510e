package org.djlplan.memplan.measure;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.base.Ascii;
import com.google.common.math.LongMath;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.djlplan.memplan.child.ChildProcess;
import org.djlplan.memplan.child.ChildProcess.Answer;
import org.djlplan.memplan.child.ChildProcess.End;
import org.djlplan.memplan.runtime.GuestProcess;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One measuring process, from its start to its end, and its temporary files. */
final class MeasuringChild implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(MeasuringChild.class);

    private final ChildProcess process;
    private final TemporaryFolder folder;
    private final GuestProcess guest;
    private final Urgency urgency;

    private MeasuringChild(ChildProcess process, TemporaryFolder folder, Urgency urgency) {
        this.process = process;
        this.folder = folder;
        this.urgency = urgency;
        guest = new GuestProcess(process.pid());
    }

    /** Starts a process; {@link #open} must follow. */
    static MeasuringChild start(MeasuringJvm jvm, OpenModelRequest model, Urgency urgency)
            throws IOException {
        TemporaryFolder folder = TemporaryFolder.create();
        try {
            ProcessBuilder command =
                    jvm.command(folder.path(), model.need().heapBytes(), model.ownDelegate());
            MeasuringChild child =
                    new MeasuringChild(
                            ChildProcess.start(command, new PassedOn()), folder, urgency);
            child.makeGuest();
            return child;
        } catch (IOException e) {
            folder.close();
            throw new NoProcessException(e);
        } catch (RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private void makeGuest() {
        guest.endFirst();
        if (urgency == Urgency.IN_BACKGROUND) {
            guest.giveWay();
        }
    }

    /** The process's log, as the application's configuration wants it; not endless. */
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
            // The engine says so of each candidate; and a crash is told with the candidate it cost.
            if (text.startsWith("INFO:") || text.startsWith("#")) {
                logger.debug("Measuring process: {}", text);
            } else {
                logger.info("Measuring process: {}", text);
            }
        }
    }

    /**
     * Waits for its hello, and has it open the model.
     *
     * @throws IOException if it does not say hello, speaks another protocol, or cannot open it
     * @throws NoRoomException if the system killed it
     */
    void open(OpenModelRequest model, Limits limits) throws IOException, InterruptedException {
        JsonElement hello = require("start", process.await(limits.start()));
        if (!hello.equals(Messages.hello())) {
            throw new IOException("a process to measure in speaks another protocol: " + hello);
        }
        // Threads that started before their maker was slowed down.
        makeGuest();
        JsonObject request =
                Messages.open(model, new ChildClasses(folder.path()).ofDelegate(model.delegate()));
        JsonElement unused = require("open the model", process.ask(request, limits.prepare()));
    }

    private static JsonElement require(String what, Answer answer) throws IOException {
        if (answer instanceof Answer.Result result) {
            return result.value();
        }
        String message = "a process to measure in did not " + what + ": " + describe(answer);
        if (answer instanceof Answer.Lost lost && lost.end() != End.OTHER) {
            throw new NoRoomException(message, true);
        }
        throw new IOException(message);
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

    Answer ask(JsonObject request, Duration patience) throws InterruptedException {
        return process.ask(request, patience);
    }

    /** Returns the process's id. */
    long pid() {
        return process.pid();
    }

    /** Returns what it used of the processors, and how long it waited for them. */
    GuestProcess.Times times() {
        return guest.times();
    }

    /** Ends it in whatever it is doing. */
    @Override
    public void close() {
        // First: should this process end now, the other one still deletes what is left.
        TemporaryFolder.delete(folder.path());
        process.kill();
        folder.close();
    }

    /**
     * The limits of a process: how long it may take, and how many may die.
     *
     * @param start until it runs Java code
     * @param prepare to open the model, to look for partitions, or to prepare a candidate
     * @param leastTiming to time or profile, however fast the candidate was before
     * @param multiple how many times slower than ever before a candidate may be
     * @param restarts how many processes may follow the first one
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

        /** Of a process that others go before, which may hardly run for a while. */
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

        Limits {
            checkArgument(multiple > 0, "multiple: %s", multiple);
            checkArgument(restarts >= 0, "restarts: %s", restarts);
        }

        /**
         * Returns how long inferences may take.
         *
         * @param slowestNanos the slowest of the candidate until now
         */
        Duration timing(int inferences, long slowestNanos) {
            long runs = inferences + 1L;
            long nanos =
                    LongMath.saturatedMultiply(
                            LongMath.saturatedMultiply(runs, slowestNanos), multiple);
            return nanos > leastTiming.toNanos() ? Duration.ofNanos(nanos) : leastTiming;
        }
    }

    /**
     * Thrown where the system starts no process, or its classes cannot be found, whatever the model
     * is.
     */
    static final class NoProcessException extends IOException {

        private static final long serialVersionUID = 1L;

        NoProcessException(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }
}
