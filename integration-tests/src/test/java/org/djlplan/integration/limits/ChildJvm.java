package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a main class in a JVM of its own, with another class path. */
final class ChildJvm {

    private ChildJvm() {}

    /** Returns the class path of this JVM's tests. */
    static ImmutableList<String> classPath() {
        String path =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        return ImmutableList.copyOf(Splitter.on(File.pathSeparator).split(path));
    }

    /** Runs to the end and asserts that it ended well. Returns all that was printed. */
    static String run(List<String> classPath, String mainClass, List<String> arguments, Path folder)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Dai.djl.offline=true");
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classPath));
        command.add(mainClass);
        command.addAll(arguments);
        Path output = Files.createTempFile(folder, "jvm", ".txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        boolean ended = process.waitFor(2, TimeUnit.MINUTES);
        process.destroyForcibly();
        String printed = Files.readString(output);
        assertTrue(ended, printed);
        assertEquals(0, process.exitValue(), printed);
        return printed;
    }
}
