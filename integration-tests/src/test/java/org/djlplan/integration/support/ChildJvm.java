package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Runs a class with this JVM's class path in a JVM of its own, which may crash. */
public final class ChildJvm {

    private static final long PATIENCE_MINUTES = 5;

    /** Where DJL keeps what it downloads and unpacks: not in the user's own folders. */
    private static final List<String> INHERITED = List.of("DJL_CACHE_DIR", "ENGINE_CACHE_DIR");

    private ChildJvm() {}

    /** How a JVM ended and what it wrote. */
    public record Result(int exitCode, String out, String err) {}

    /** Runs {@code main} to its end; files that it writes without a path land in {@code folder}. */
    public static Result run(Path folder, List<String> options, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        return run(List.of(), folder, options, main, arguments);
    }

    /** The same, begun by another command. */
    public static Result run(
            List<String> before,
            Path folder,
            List<String> options,
            Class<?> main,
            String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Dai.djl.offline=true", "-XX:TieredStopAtLevel=1", "-Xmx512m"));
        for (String property : INHERITED) {
            Optional.ofNullable(System.getProperty(property))
                    .ifPresent(value -> command.add("-D" + property + "=" + value));
        }
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile(folder, "child", ".out");
        Path err = Files.createTempFile(folder, "child", ".err");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        // As a user's, whatever this JVM has for itself.
        builder.environment().remove("MALLOC_ARENA_MAX");
        Process process = builder.start();
        if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
            process.destroyForcibly();
        }
        return new Result(process.waitFor(), Files.readString(out), Files.readString(err));
    }
}
