package org.djlplan.integration.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The result of a run of the application.
 *
 * @param exitCode the exit code of the process
 * @param out its output
 * @param err its error stream
 */
record Started(int exitCode, String out, String err) {

    private static final long PATIENCE_MINUTES = 9;

    /**
     * Runs a command to its end. Temporary files go to {@code tmp} in the folder.
     *
     * @param before the command that starts the JVM, such as a shell
     * @param java the JVM's executable
     */
    static Started run(
            Path folder, List<String> before, Path java, List<String> jvm, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.add(java.toString());
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        command.addAll(
                List.of(
                        "-Xmx64m",
                        "-XX:MaxDirectMemorySize=1g",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.repository.token=SECRET",
                        "-Djava.io.tmpdir=" + temporary,
                        "-DDJL_CACHE_DIR=" + folder.resolve("cache"),
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR")));
        command.addAll(jvm);
        command.addAll(arguments);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        builder.environment().put("APPLICATION_PASSWORD", "SECRET");
        Process process = builder.start();
        if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return new Started(process.waitFor(), Files.readString(out), Files.readString(err));
    }

    @Override
    public String toString() {
        return "exit code " + exitCode + "\n" + out + "\n" + err;
    }
}
