package org.djlplan.memplan.measure;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.child.JavaCommand;

/**
 * How the JVM of a measuring process is started.
 *
 * <p>Several candidates live in the process one after another. What one of them frees must be given
 * back before the next is measured (ProcessMemory.trim), else that one seems to take less memory
 * than it does. glibc gives the end of a heap back only of its first arena, and other threads than
 * the process's first have others: so there is to be one arena. Kernels allocate few blocks in an
 * inference, thus its threads hardly ever wait for each other there.
 *
 * <p>The rest of the environment is this process's, so that the C library's allocator, or whichever
 * is loaded in its place, does what it does in the application. In particular glibc's threshold for
 * blocks that are mapped on their own stays dynamic. Fixed and low, it would make trimming
 * unnecessary, but kernels that allocate in each inference would map and fault in their blocks each
 * time: the CPU kernels would look slower than they are in an application.
 *
 * @param java the program
 * @param mainClass its main class
 * @param arguments of the main class
 */
record MeasuringJvm(Path java, String mainClass, List<String> arguments) {

    static final MeasuringJvm DEFAULT =
            new MeasuringJvm(JavaCommand.ofThisJvm(), MeasuringProcess.class.getName(), List.of());

    private static final ImmutableList<String> FLAGS =
            ImmutableList.of(
                    // Touched at the start, so that the heap does not show in memory figures; grows
                    // only for models whose inputs and outputs do not fit.
                    "-Xms48m",
                    "-Xmx512m",
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    // The optimizing compiler takes memory now and then, for code that waits for
                    // native code most of the time.
                    "-XX:TieredStopAtLevel=1",
                    "-Xshare:auto",
                    "-XX:-UsePerfData",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-XX:+DisplayVMOutputToStderr",
                    "-XX:+IgnoreUnrecognizedVMOptions");

    /** Flags for all JVMs may contradict ours, or open a port for a debugger that is in use. */
    private static final ImmutableSet<String> FLAGS_OF_ALL_JVMS =
            ImmutableSet.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    /** Name of a system property: the folder for the process's temporary files. */
    static final String FOLDER = "org.djlplan.measuring.folder";

    MeasuringJvm {
        arguments = ImmutableList.copyOf(arguments);
    }

    /**
     * Returns what starts one.
     *
     * @param folder for its temporary files: unpacked native libraries, a report of a crash
     */
    ProcessBuilder command(Path folder) {
        List<String> flags =
                ImmutableList.<String>builder()
                        .addAll(FLAGS)
                        .add("-XX:ErrorFile=" + folder.resolve("crash.log"))
                        .build();
        Map<String, String> properties =
                Map.of(FOLDER, folder.toString(), "jna.tmpdir", folder.toString());
        ProcessBuilder builder =
                new ProcessBuilder(
                        ImmutableList.<String>builder()
                                .addAll(
                                        JavaCommand.of(
                                                java,
                                                flags,
                                                properties,
                                                MeasuringClassPath.current()))
                                .add(mainClass)
                                .addAll(arguments)
                                .build());
        builder.environment().keySet().removeAll(FLAGS_OF_ALL_JVMS);
        builder.environment().put("MALLOC_ARENA_MAX", "1");
        return builder;
    }
}
