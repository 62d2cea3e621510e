package org.djlplan.memplan.child;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ChildProcessTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private static ProcessBuilder shell(String script) {
        return new ProcessBuilder("sh", "-c", script);
    }

    @Test
    void start_errorStream_isPassedOnLineByLine() throws Exception {
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        try (ChildProcess process =
                ChildProcess.start(shell("echo one >&2; echo ' two' >&2; read x"), log::add)) {
            assertEquals("one", log.poll(60, TimeUnit.SECONDS));
            assertEquals(" two", log.poll(60, TimeUnit.SECONDS));
            assertEquals(List.of("one", "two"), process.lastErrorLines());
        }
    }

    @Test
    void await_killedByTheSystem_isOutOfMemory() throws Exception {
        try (ChildProcess process = ChildProcess.start(shell("kill -9 $$"))) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertTrue(lost.outOfMemory());
            assertTrue(
                    lost.how().startsWith("ended with exit code 137 (out of memory"), lost.how());
        }
    }

    @Test
    void await_crashed_isNotOutOfMemory() throws Exception {
        try (ChildProcess process = ChildProcess.start(shell("kill -11 $$"))) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(false, lost.outOfMemory());
            assertTrue(lost.how().contains("signal 11"), lost.how());
        }
    }
}
