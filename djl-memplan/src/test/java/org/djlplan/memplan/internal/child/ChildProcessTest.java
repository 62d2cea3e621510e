package org.djlplan.memplan.internal.child;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.ChildProcess.CutLines;
import org.djlplan.memplan.internal.child.ChildProcess.LastWords;
import org.djlplan.memplan.internal.machine.Machine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ChildProcessTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir private Path folder;

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

    /** Writes the same text to both streams. */
    static final class Echo {

        private Echo() {}

        public static void main(String[] arguments) throws InterruptedException {
            ParentConnection parent = ParentConnection.open(() -> {});
            JsonElement text = parent.take().get("text");
            System.err.println(text.getAsString());
            parent.reply(text);
            JsonElement unused = parent.take();
        }
    }

    @Test
    void ask_textThatTheLocaleLacks_comesBackUnchanged() throws Exception {
        String text = "modèle_☃";
        List<String> command =
                new ArrayList<>(
                        JavaCommand.of(
                                JavaCommand.ofThisJvm(),
                                List.of(),
                                Map.of(),
                                System.getProperty("java.class.path")));
        command.add(Echo.class.getName());
        ProcessBuilder echo = new ProcessBuilder(command);
        echo.environment().put("LC_ALL", "C");
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        JsonObject request = new JsonObject();
        request.addProperty("text", text);
        try (ChildProcess process = ChildProcess.start(echo, log::add)) {
            Answer.Result result =
                    assertInstanceOf(Answer.Result.class, process.ask(request, LONG));
            assertEquals(text, result.value().getAsString());
            assertEquals(text, log.poll(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void await_killedByOtherProcess_isNotOutOfMemory() throws Exception {
        writeKills(3);
        try (ChildProcess process = killed("kill -9 $$")) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(ChildProcess.End.KILLED, lost.end());
            assertEquals("was killed (signal 9), not for want of memory", lost.how());
        }
    }

    /** Text that the process wrote before it was killed is not the reason. */
    @Test
    void await_killedForMemory_reportsItInOneSentence() throws Exception {
        writeKills(3);
        String vmstat = folder.resolve("proc/vmstat").toString();
        String script = "echo warning >&2; echo oom_kill 4 > " + vmstat + "; kill -9 $$";
        try (ChildProcess process = killed(script)) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(ChildProcess.End.OUT_OF_MEMORY, lost.end());
            assertEquals(
                    "was killed by the system, as memory had run out;"
                            + " djlplan size MODEL measures how much is enough",
                    lost.how());
        }
    }

    @Test
    void await_killedWithoutKillCounter_isPerhapsOutOfMemory() throws Exception {
        try (ChildProcess process = killed("kill -9 $$")) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(ChildProcess.End.OUT_OF_MEMORY, lost.end());
            assertEquals("was killed (signal 9), perhaps as memory had run out", lost.how());
        }
    }

    private void writeKills(int count) throws IOException {
        Path proc = Files.createDirectories(folder.resolve("proc"));
        Files.writeString(proc.resolve("vmstat"), "oom_kill " + count + "\n");
    }

    private ChildProcess killed(String script) throws IOException {
        return new ChildProcess(shell(script), line -> {}, new Machine(folder));
    }

    @Test
    void await_crashed_isNotOutOfMemory() throws Exception {
        try (ChildProcess process = ChildProcess.start(shell("kill -11 $$"), line -> {})) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(ChildProcess.End.OTHER, lost.end());
            assertTrue(lost.how().contains("signal 11"), lost.how());
        }
    }

    /** As a JVM ends that such a signal asks to. A shell may have been started to ignore them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 15})
    void await_askedToEnd_isNoCrash(int signal) throws Exception {
        String script = "exit " + (128 + signal);
        try (ChildProcess process = ChildProcess.start(shell(script), line -> {})) {
            Answer.Lost lost = assertInstanceOf(Answer.Lost.class, process.await(LONG));
            assertEquals(ChildProcess.End.ASKED, lost.end());
            assertTrue(lost.how().contains("signal " + signal), lost.how());
        }
    }

    private final LastWords words = new LastWords();

    @Test
    void lastWords_noOutput_reportsNone() {
        assertEquals("(none)", words.summary());
        assertEquals(List.of(), words.lines());
    }

    @Test
    void lastWords_someLines_areTheLast() {
        for (int i = 0; i < 20; i++) {
            words.addError("  line " + (char) ('a' + i) + " ");
            words.addError("");
        }
        assertEquals(8, words.lines().size());
        assertEquals("line t", words.lines().get(7));
        assertEquals(String.join(" | ", words.lines()), words.summary());
    }

    /** For example, a library's warning that contains the time of day. */
    @Test
    void lastWords_oneLineAgainAndAgain_isCounted() {
        words.addError("no space left");
        for (int i = 0; i < 20; i++) {
            words.addError("[W1126 19:39:" + (10 + i) + "] could not initialize");
        }
        assertEquals(
                List.of("no space left", "[W1126 19:39:29] could not initialize (20 times)"),
                words.lines());
    }

    /** The text is as JDK 17 writes it. */
    @Test
    void lastWords_crash_isItsSignalAndFrame() {
        words.addError("INFO: Initialized TensorFlow Lite runtime.");
        List.of(
                        "#",
                        "# A fatal error has been detected by the Java Runtime Environment:",
                        "#",
                        "#  SIGSEGV (0xb) at pc=0x00007f0a5c0b1234, pid=41, tid=42",
                        "#",
                        "# JRE version: OpenJDK Runtime Environment (17.0.15+6)",
                        "# Problematic frame:",
                        "# C  [libtensorflowlite_jni.so+0x1234]  TfLiteInterpreterInvoke+0x14",
                        "#",
                        "# No core dump will be written. Core dumps have been disabled.",
                        "#")
                .forEach(words::addOutput);
        assertEquals(
                "SIGSEGV (0xb) at pc=0x00007f0a5c0b1234, pid=41, tid=42"
                        + " | C  [libtensorflowlite_jni.so+0x1234]  TfLiteInterpreterInvoke+0x14",
                words.summary());
        assertEquals(List.of("INFO: Initialized TensorFlow Lite runtime."), words.lines());
    }

    private static List<String> lines(String text, int longest) throws IOException {
        List<String> lines = new ArrayList<>();
        CutLines.forEach(new StringReader(text), longest, lines::add);
        return lines;
    }

    @Test
    void cutLines_lines_areHandedOnWithoutTheirEnds() throws IOException {
        assertEquals(List.of("a", "", "b\0c"), lines("a\n\nb\0c\n", 10));
    }

    @Test
    void cutLines_noEnd_isALineToo() throws IOException {
        assertEquals(List.of("a", "b"), lines("a\nb", 10));
        assertEquals(List.of(), lines("", 10));
    }

    @Test
    void cutLines_longLine_isCutAndTheNextIsWhole() throws IOException {
        assertEquals(List.of("abc", "def"), lines("abcabc\ndef\n", 3));
    }
}
