package org.djlplan.memplan.internal.measure;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The command that starts the JVM of a measuring process. No configuration of the application's JVM
 * applies to it, and its command line reveals nothing about the application.
 *
 * <p>Several candidates run in the process one after another. Memory that one of them frees must be
 * returned to the system before the next is measured (ProcessMemory.trim); otherwise the next seems
 * to take less memory than it does. glibc trims the end of a heap only for its first arena, and
 * threads other than the first use other arenas, so the process is limited to one arena. Kernels
 * allocate few blocks during an inference, so threads hardly ever wait for each other there.
 *
 * <p>The process gets the environment variables of the C library's allocator, or its replacement,
 * and of numerical libraries, so that these behave as in the application. In particular, glibc's
 * threshold for separately mapped blocks stays dynamic. A fixed low threshold would make trimming
 * unnecessary, but kernels that allocate in each inference would map their blocks and fault them in
 * each time, so the CPU kernels would look slower than they are in an application. A custom
 * delegate may read other variables, so its process gets all of them except those that configure
 * JVMs and logging.
 *
 * @param java the executable
 * @param mainClass the main class
 * @param arguments the arguments of the main class
 * @param moreClasses additional class path entries
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
                    // JNA loads libraries, about which newer JVMs warn.
                    "--enable-native-access=ALL-UNNAMED",
                    // The heap is touched at the start, so that it does not affect memory figures;
                    // it grows only for models whose inputs and outputs do not fit.
                    "-Xms" + MemoryNeed.LEAST_HEAP_BYTES,
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    // The optimizing compiler takes memory from time to time, for code that mostly
                    // waits for native code.
                    "-XX:TieredStopAtLevel=1",
                    "-XX:ReservedCodeCacheSize=16m",
                    "-XX:MaxMetaspaceSize=64m",
                    "-Xshare:auto",
                    "-XX:-UsePerfData",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-XX:+DisplayVMOutputToStderr",
                    "-XX:+IgnoreUnrecognizedVMOptions");

    /** Names, or prefixes of names, of the variables that every process gets. */
    private static final Pattern VARIABLES =
            Pattern.compile(
                    "PATH|HOME|USER|LANG|TZ|TMPDIR|DJL_CACHE_DIR|ENGINE_CACHE_DIR"
                            + "|(LC_|LD_LIBRARY_|MALLOC_|JE_MALLOC_|TCMALLOC_|MIMALLOC_"
                            + "|GLIBC_TUNABLES|OMP_|GOMP_|KMP_|OPENBLAS_|MKL_|DNNL_|ONEDNN_|ATEN_"
                            + "|PYTORCH_).*");

    /**
     * Flags for all JVMs may contradict this command, or open a debugger port that is already in
     * use.
     */
    private static final Pattern OF_THE_APPLICATION =
            Pattern.compile(
                    "JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH"
                            + "|(LOG4J|LOGBACK|LOGGING|ORG_SLF4J|SPRING|DJLPLAN).*");

    private static final String PRELOAD = "LD_PRELOAD";

    private static final Splitter PRELOADED = Splitter.onPattern("[ :]").omitEmptyStrings();

    /** Name of a system property: the folder for the process's temporary files. */
    static final String FOLDER = "org.djlplan.measuring.folder";

    /**
     * The system properties that select native libraries of DJL and JNA: the only ones that the
     * process gets. They are sent through its input, because other users can read a command line.
     */
    static final ImmutableSet<String> PROPERTIES =
            ImmutableSet.of(
                    "DJL_CACHE_DIR",
                    "ENGINE_CACHE_DIR",
                    "PYTORCH_EXTRA_LIBRARY_PATH",
                    "PYTORCH_FLAVOR",
                    "PYTORCH_LIBRARY_PATH",
                    "PYTORCH_PRECXX11",
                    "PYTORCH_VERSION",
                    "TFLITE_LIBRARY_PATH",
                    "ai.djl.offline",
                    "ai.djl.pytorch.graph_optimizer",
                    "ai.djl.pytorch.native_helper",
                    "ai.djl.pytorch.num_interop_threads",
                    "ai.djl.pytorch.use_mkldnn",
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
     * Returns the builder of a process.
     *
     * @param folder for its temporary files: unpacked native libraries, crash reports
     * @param model the model that it will open
     * @throws IOException if its classes cannot be found
     */
    ProcessBuilder command(Path folder, ModelRequest model) throws IOException {
        String classPath =
                Stream.concat(
                                new ChildClasses(folder).classPath(model.usesDjl()).stream(),
                                moreClasses.stream())
                        .map(Path::toString)
                        .collect(Collectors.joining(File.pathSeparator));
        ProcessBuilder builder =
                new ProcessBuilder(
                        ImmutableList.<String>builder()
                                .add(java.toString())
                                .addAll(FLAGS)
                                .add("-Xmx" + model.mostHeapBytes())
                                .add("-XX:ErrorFile=" + folder.resolve("crash.log"))
                                .add("-D" + FOLDER + "=" + folder)
                                .add("-Djava.io.tmpdir=" + folder)
                                .add("-Djna.tmpdir=" + folder)
                                .add("-cp", classPath, mainClass)
                                .addAll(arguments)
                                .build());
        limit(builder.environment(), !Delegates.isPartOfEngine(model.delegate()));
        return builder;
    }

    /** Removes the variables that the process must not get. */
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
