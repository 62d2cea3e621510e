package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.FakeRunner.Behaviour;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.NoRoomException;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Timeout;

/** Starts measuring processes that run {@link FakeMeasuringProcess}. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class ProcessTests {

    /** Long enough on any machine. */
    static final Duration LONG = Duration.ofSeconds(60);

    static final Limits PATIENT = new Limits(LONG, LONG, LONG, 20, 8);

    static final Candidate GOOD = Behaviour.GOOD.candidate();

    static ProcessRunner start(Limits limits) throws IOException {
        return start(Start.GOOD, limits);
    }

    static ProcessRunner start(Start how, Limits limits) throws IOException {
        return start(jvm(how), limits, Urgency.AWAITED);
    }

    static ProcessRunner start(MeasuringJvm jvm, Limits limits, Urgency urgency)
            throws IOException {
        return ProcessRunner.start(model(1 << 20), jvm, limits, urgency, new Machine());
    }

    /** Returns a model of which another candidate may need this memory. */
    static OpenModelRequest model(long candidateBytes) {
        return new OpenModelRequest(
                Path.of("model.tflite"),
                "a file",
                "xnnpack",
                Tolerance.AUTO,
                Path.of("libtensorflowlite_jni.so"),
                new MemoryNeed(64 << 20, candidateBytes),
                Optional.empty());
    }

    static MeasuringJvm jvm(Start how) {
        return new MeasuringJvm(
                JavaCommand.ofThisJvm(),
                FakeMeasuringProcess.class.getName(),
                List.of(how.name()),
                List.of(testClasses()));
    }

    private static Path testClasses() {
        try {
            return Path.of(
                    FakeMeasuringProcess.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    static long pid(ProcessRunner runner) {
        return runner.pid().orElseThrow();
    }

    static boolean ends(long pid) throws Exception {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        if (process.isPresent()) {
            ProcessHandle unused = process.get().onExit().get(1, TimeUnit.MINUTES);
        }
        return ProcessHandle.of(pid).isEmpty();
    }

    /** Returns why a candidate cannot be prepared. */
    static CandidateException failure(ProcessRunner runner, Candidate candidate) {
        return assertThrows(CandidateException.class, () -> runner.prepare(candidate));
    }

    /** Returns why no candidate can be prepared. */
    static NoRoomException noRoom(ProcessRunner runner, Candidate candidate) {
        return assertThrows(NoRoomException.class, () -> runner.prepare(candidate));
    }

    /** Returns the message of a refusal, which is the folder of the process. */
    static Path refusal(ProcessRunner runner) {
        CandidateException e = failure(runner, Behaviour.REFUSED_WHEN_PREPARED.candidate());
        assertEquals(Kind.REFUSED, e.kind());
        return Path.of(e.getMessage());
    }
}
