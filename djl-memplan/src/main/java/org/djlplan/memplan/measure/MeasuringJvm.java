package org.djlplan.memplan.measure;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.memplan.child.JavaCommand;

/**
 * The command that starts the JVM of a measuring process. Nothing that configures the application's
 * JVM acts in it, and its command line tells nothing of the application.
 *
 * <p>Several candidates live in the process one after another. What one of them frees must be given
 * back before the next is measured (ProcessMemory.trim), else that one seems to take less memory
 * than it does. glibc gives the end of a heap back only of its first arena, and other threads than
 * the process's first have others: so there is to be one arena. Kernels allocate few blocks in an
 * inference, thus its threads hardly ever wait for each other there.
 *
 * <p>Of the environment it gets what the C library's allocator, or whichever is loaded in its
 * place, and the numerical libraries look at, so that these do what they do in the application. In
 * particular glibc's threshold for blocks that are mapped on their own stays dynamic. Fixed and
 * low, it would make trimming unnecessary, but kernels that allocate in each inference would map
 * and fault in their blocks each time: the CPU kernels would look slower than they are in an
 * application. A delegate of the user's may look at other variables; its process gets them all,
 * without those that configure JVMs and logging.
 *
 * @param java the program
 * @param mainClass its main class
 * @param arguments of the main class
 * @param moreClasses where to look for classes besides those that are always needed
 */
record MeasuringJvm(Path java, String mainClass, List<String> arguments, List<Path> moreClasses) {

    static final MeasuringJvm DEFAULT =
            new MeasuringJvm(
                    JavaCommand.ofThisJvm(),
                    MeasuringProcess.class.getName(),
                    List.of(),
                    List.of());

    private static final ImmutableList<String> FLAGS =
            ImmutableList.of(
                    // Touched at the start, so that the heap does not show in memory figures; grows
                    // only for models whose inputs and outputs do not fit.
                    "-Xms" + MemoryNeed.LEAST_HEAP_BYTES,
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    // The optimizing compiler takes memory now and then, for code that waits for
                    // native code most of the time.
                    "-XX:TieredStopAtLevel=1",
                    "-XX:ReservedCodeCacheSize=16m",
                    "-XX:MaxMetaspaceSize=64m",
                    "-Xshare:auto",
                    "-XX:-UsePerfData",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-XX:+DisplayVMOutputToStderr",
                    "-XX:+IgnoreUnrecognizedVMOptions");

    /** Variables, or the beginnings of their names, that every process gets. */
    private static final Pattern VARIABLES =
            Pattern.compile(
                    "PATH|HOME|USER|LANG|TZ|TMPDIR|(LC_|LD_LIBRARY_|MALLOC_|JE_MALLOC_|TCMALLOC_"
                            + "|MIMALLOC_|GLIBC_TUNABLES|OMP_|GOMP_|KMP_|OPENBLAS_|MKL_).*");

    /** Flags for all JVMs may contradict ours, or open a port for a debugger that is in use. */
    private static final Pattern OF_THE_APPLICATION =
            Pattern.compile(
                    "JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH"
                            + "|(LOG4J|LOGBACK|LOGGING|ORG_SLF4J|SPRING|DJLPLAN).*");

    private static final String PRELOAD = "LD_PRELOAD";

    private static final Splitter PRELOADED = Splitter.onPattern("[ :]").omitEmptyStrings();

    /** Name of a system property: the folder for the process's temporary files. */
    static final String FOLDER = "org.djlplan.measuring.folder";

    /**
     * The system properties that choose native libraries, of DJL and of JNA: the only ones that the
     * process gets. It is told them when it runs, as others can read a command line.
     */
    static final ImmutableSet<String> PROPERTIES =
            ImmutableSet.of(
                    "DJL_CACHE_DIR",
                    "ENGINE_CACHE_DIR",
                    "TFLITE_LIBRARY_PATH",
                    "ai.djl.offline",
                    "ai.djl.tflite.native_helper",
                    "jna.boot.library.path",
                    "jna.library.path",
                    "jna.nosys",
                    "jna.nounpack");

    MeasuringJvm {
        arguments = ImmutableList.copyOf(arguments);
        moreClasses = ImmutableList.copyOf(moreClasses);
    }

    /**
     * Returns what starts one.
     *
     * @param folder for its temporary files: unpacked native libraries, a report of a crash
     * @param heapBytes the limit of its Java heap
     * @param ownDelegate whether it runs a delegate of the user's
     * @throws IOException if its classes cannot be found
     */
    ProcessBuilder command(Path folder, long heapBytes, boolean ownDelegate) throws IOException {
        String classPath =
                Stream.concat(new ChildClasses(folder).classPath().stream(), moreClasses.stream())
                        .map(Path::toString)
                        .collect(Collectors.joining(File.pathSeparator));
        ProcessBuilder builder =
                new ProcessBuilder(
                        ImmutableList.<String>builder()
                                .add(java.toString())
                                .addAll(FLAGS)
                                .add("-Xmx" + heapBytes)
                                .add("-XX:ErrorFile=" + folder.resolve("crash.log"))
                                .add("-D" + FOLDER + "=" + folder)
                                .add("-Djava.io.tmpdir=" + folder)
                                .add("-Djna.tmpdir=" + folder)
                                .add("-cp", classPath, mainClass)
                                .addAll(arguments)
                                .build());
        limit(builder.environment(), ownDelegate);
        return builder;
    }

    /** Takes out of an environment what the process is not to get. */
    static void limit(Map<String, String> environment, boolean ownDelegate) {
        String allocators =
                PRELOADED
                        .splitToStream(environment.getOrDefault(PRELOAD, ""))
                        .filter(library -> library.contains("malloc"))
                        .collect(Collectors.joining(":"));
        environment
                .keySet()
                .removeIf(
                        name ->
                                name.equals(PRELOAD)
                                        || (ownDelegate
                                                ? OF_THE_APPLICATION.matcher(name).matches()
                                                : !VARIABLES.matcher(name).matches()));
        if (!allocators.isEmpty()) {
            environment.put(PRELOAD, allocators);
        }
        environment.put("MALLOC_ARENA_MAX", "1");
    }
}
