package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.util.Progress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WorkerProcessTest {

    private final List<String> shown = new ArrayList<>();

    private final Progress listener =
            new Progress() {
                @Override
                public void reset(String message, long max, String trailingMessage) {
                    shown.add("reset " + message + " " + max);
                }

                @Override
                public void start(long initialProgress) {
                    shown.add("start " + initialProgress);
                }

                @Override
                public void end() {
                    shown.add("end");
                }

                @Override
                public void increment(long increment) {
                    throw new AssertionError(increment);
                }

                @Override
                public void update(long progress, String additionalMessage) {
                    shown.add("update " + progress);
                }
            };

    private final WorkerProcess.Errors errors = new WorkerProcess.Errors(Optional.of(listener));

    @Test
    void accept_nativeNewsAndCrashes_areNotForUsers() {
        errors.accept("INFO: Created TensorFlow Lite XNNPACK delegate for CPU.");
        errors.accept("# A fatal error has been detected by the Java Runtime Environment:");
        errors.accept("");
        errors.accept("ERROR: Regular TensorFlow ops are not supported");
        errors.accept("[main] WARN a.B - something");
        assertEquals(
                List.of(
                        "ERROR: Regular TensorFlow ops are not supported",
                        "[main] WARN a.B - something"),
                errors.lines());
    }

    @Test
    void accept_manyLines_keepsTheLast() {
        IntStream.range(0, 20).forEach(i -> errors.accept("line " + i));
        assertEquals(8, errors.lines().size());
        assertEquals("line 19", errors.lines().get(7));
    }

    @Test
    void accept_progress_isReportedInPercentAndNotStored() {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        ProgressLine.ToParent worker =
                new ProgressLine.ToParent(new PrintStream(stream, true, StandardCharsets.UTF_8));
        worker.reset("Profiling net\nwork", 50);
        worker.start(0);
        worker.update(10);
        worker.update(10);
        worker.increment(5);
        worker.end();
        stream.toString(StandardCharsets.UTF_8).lines().forEach(errors);
        assertEquals(List.of(), errors.lines());
        assertEquals(
                List.of(
                        "reset Profiling net work 100",
                        "start 0",
                        "update 0",
                        "update 20",
                        "update 30",
                        "end"),
                shown);
    }
}
