package org.djlplan.integration.support;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * Runs a class in a separate JVM, which may crash, with this JVM's class path or another one, and
 * under any limits.
 */
public final class ChildJvm {

    private static final long PATIENCE_MINUTES = 15;

    /**
     * Properties for DJL's folders of downloads and unpacked files, which are not the user's own.
     */
    private static final List<String> INHERITED = List.of("DJL_CACHE_DIR", "ENGINE_CACHE_DIR");

    private final Path folder;
    private final List<String> options = new ArrayList<>();
    private List<String> classPath = ownClassPath();
    private List<String> before = List.of();
    private Map<String, String> environment = Map.of();

    /** Makes a JVM whose working directory is a folder. */
    public ChildJvm(Path folder) {
        this.folder = folder;
    }

    /** The exit code and output of a JVM. */
    public record Result(int exitCode, String out, String err) {

        /** Returns all that it wrote. */
        public String printed() {
            return out + err;
        }

        /** Returns the lines that djl-plan logged as warnings. */
        public List<String> warnings() {
            return Stream.concat(out.lines(), err.lines())
                    .filter(line -> line.contains("WARN org.djlplan."))
                    .toList();
        }
    }

    /** A started JVM, and the files that it writes to. */
    public record Running(Process process, Path out, Path err) {

        /** Waits until the JVM ends. */
        public Result result() throws IOException, InterruptedException {
            if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
            }
            return new Result(process.waitFor(), Files.readString(out), Files.readString(err));
        }
    }

    /** Returns the class path of this JVM. */
    public static List<String> ownClassPath() {
        return Splitter.on(File.pathSeparator)
                .splitToList(
                        System.getProperty(
                                "surefire.test.class.path", System.getProperty("java.class.path")));
    }

    /** Adds options of the JVM after its default ones. */
    public ChildJvm options(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    /** Gives it a small heap and the garbage collector that needs least memory. */
    public ChildJvm small() {
        return options("-Xmx256m", "-XX:+UseSerialGC");
    }

    /** Replaces the class path. */
    public ChildJvm classPath(List<String> entries) {
        classPath = List.copyOf(entries);
        return this;
    }

    /** Sets environment variables that only this JVM has. */
    public ChildJvm environment(Map<String, String> variables) {
        environment = Map.copyOf(variables);
        return this;
    }

    /**
     * Makes another command start the JVM: the JVM and its arguments are the command's last
     * arguments.
     */
    public ChildJvm before(List<String> command) {
        before = List.copyOf(command);
        return this;
    }

    /** Has a shell run this before it becomes the JVM, for example {@code ulimit -v 1000000}. */
    public ChildJvm after(String command) {
        return before(List.of("sh", "-c", command + " && exec \"$@\"", "sh"));
    }

    /** Runs {@code main} to its end. */
    public Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        return start(main, arguments).result();
    }

    /** Starts {@code main}. */
    public Running start(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Dai.djl.offline=true", "-XX:TieredStopAtLevel=1", "-Xmx512m"));
        for (String property : INHERITED) {
            Optional.ofNullable(System.getProperty(property))
                    .ifPresent(value -> command.add("-D" + property + "=" + value));
        }
        command.addAll(options);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main.getName()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile(folder, "child", ".out");
        Path err = Files.createTempFile(folder, "child", ".err");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        // The child has a user's environment, even if this JVM has a special one.
        builder.environment().remove("MALLOC_ARENA_MAX");
        builder.environment().putAll(environment);
        return new Running(builder.start(), out, err);
    }
}
