package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.djlplan.cli.DjlPlan;

/** Runs the {@code djlplan} command in its own JVM, as a user starts it. */
public final class DjlPlanProcess {

    private static final Pattern SEPARATOR = Pattern.compile(File.pathSeparator, Pattern.LITERAL);

    private final Path folder;
    private final Process process;

    private DjlPlanProcess(Path folder, Process process) {
        this.folder = folder;
        this.process = process;
    }

    /** The exit code and output of a command. */
    public record Result(int exitCode, String out, String err) {

        /** Returns the one line of output. */
        public JsonObject json() {
            assertEquals(1, out.lines().count(), out + err);
            return JsonParser.parseString(out).getAsJsonObject();
        }
    }

    /** Runs a command to its end; its output goes to files in {@code folder}. */
    public static Result run(Path folder, String... arguments)
            throws IOException, InterruptedException {
        return start(folder, arguments).finish();
    }

    /** Runs a command in this JVM, which tests all but the start and end of a process. */
    public static Result runHere(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode =
                DjlPlan.commandLine()
                        .setOut(new PrintWriter(out, true))
                        .setErr(new PrintWriter(err, true))
                        .execute(arguments);
        return new Result(exitCode, out.toString(), err.toString());
    }

    /** Runs a command whose output goes to an existing file; the result contains none of it. */
    public static Result runInto(Path out, Path folder, String... arguments)
            throws IOException, InterruptedException {
        Files.writeString(folder.resolve("out"), "");
        return start(folder, out, classPath(), arguments).finish();
    }

    /** Runs a command without the jars of an artifact. */
    public static Result runWithout(String artifact, Path folder, String... arguments)
            throws IOException, InterruptedException {
        String classPath =
                SEPARATOR
                        .splitAsStream(classPath())
                        .filter(
                                entry ->
                                        !Path.of(entry)
                                                .getFileName()
                                                .toString()
                                                .startsWith(artifact))
                        .collect(Collectors.joining(File.pathSeparator));
        return start(folder, folder.resolve("out"), classPath, arguments).finish();
    }

    /** Starts a command with this JVM's class path. */
    public static DjlPlanProcess start(Path folder, String... arguments) throws IOException {
        return start(folder, folder.resolve("out"), classPath(), arguments);
    }

    private static DjlPlanProcess start(
            Path folder, Path out, String classPath, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        // Background processes of a script ignore Ctrl-C; this process must not.
        command.addAll(List.of("env", "--default-signal=INT"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-Dai.djl.offline=true",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        classPath));
        command.add("org.djlplan.cli.DjlPlan");
        command.addAll(List.of(arguments));
        return new DjlPlanProcess(
                folder,
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(folder.resolve("err").toFile())
                        .start());
    }

    private static String classPath() {
        return String.join(File.pathSeparator, ChildJvm.ownClassPath());
    }

    /** Returns the process. */
    public Process process() {
        return process;
    }

    /** Does what Ctrl-C does. */
    public void interrupt() throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-INT", "" + process.pid()).start();
        assertEquals(0, kill.waitFor());
    }

    /** Waits for its end. */
    public Result finish() throws IOException, InterruptedException {
        int exitCode = process.waitFor();
        return new Result(
                exitCode,
                Files.readString(folder.resolve("out"), StandardCharsets.UTF_8),
                Files.readString(folder.resolve("err"), StandardCharsets.UTF_8));
    }
}
