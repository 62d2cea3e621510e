package org.djlplan.integration.limits;

import com.google.common.base.Splitter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a class in a JVM of its own, with any class path and under any limits. */
final class Jvm {

    private static final long PATIENCE_MINUTES = 5;

    private final Path folder;
    private final List<String> options = new ArrayList<>();
    private List<String> classPath = ownClassPath();
    private String before = "";

    /** Leaves its files in a folder. */
    Jvm(Path folder) {
        this.folder = folder;
    }

    /** How it ended, and all that it printed. */
    record Result(int exitCode, String printed) {

        /** Returns the lines that djl-plan logged as warnings. */
        List<String> warnings() {
            return printed.lines().filter(line -> line.contains("WARN org.djlplan.")).toList();
        }
    }

    /** Returns the class path of this JVM. */
    static List<String> ownClassPath() {
        return Splitter.on(File.pathSeparator)
                .splitToList(
                        System.getProperty(
                                "surefire.test.class.path", System.getProperty("java.class.path")));
    }

    Jvm options(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    Jvm classPath(List<String> entries) {
        classPath = List.copyOf(entries);
        return this;
    }

    /** Has a shell run this before it becomes the JVM, for example {@code ulimit -v 1000000}. */
    Jvm after(String command) {
        before = command + " && ";
        return this;
    }

    Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", before + "exec \"$@\"", "sh"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-Dai.djl.offline=true"));
        command.addAll(options);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main.getName()));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(folder, "jvm", ".txt");
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
            process.destroyForcibly();
        }
        return new Result(process.waitFor(), Files.readString(output));
    }
}
