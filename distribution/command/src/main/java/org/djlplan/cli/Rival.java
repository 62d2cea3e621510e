package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.base.Joiner;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.base.Strings;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The stock engine in another configuration: with another allocator, or in the last DJL release
 * with its own TensorFlow Lite engine.
 *
 * @param name for users
 * @param environment additional environment variables of the process; empty if the configuration is
 *     not available here
 * @param classPath of the process, if it differs from this process's; DJL 0.27 always needs one
 */
record Rival(String name, Optional<Map<String, String>> environment, Optional<String> classPath) {

    private static final String OLD_DJL = "djl-0.27";

    /** The C library's own allocator, configured to keep memory. */
    private static final String TUNED_MALLOC = "tuned-malloc";

    /**
     * Larger than any tensor, so that no block is mapped on its own and none is returned to the
     * system.
     */
    private static final String KEEP_BYTES = Long.toString(1L << 30);

    /** The jemalloc library, as installed on the system. */
    private static final String JEMALLOC = "jemalloc";

    private static final String LIBRARY = "libjemalloc.so.2";
    private static final String PRELOAD = "LD_PRELOAD";

    private static final ImmutableList<String> LIBRARY_FOLDERS =
            ImmutableList.of("usr/local/lib", "usr/lib", "usr/lib64", "lib", "lib64");

    /**
     * Prefixes of the names of DJL's and engines' jars, of which a class path may have only one
     * release.
     */
    private static final Pattern OF_DJL =
            Pattern.compile(
                    "(api|basicdataset|model-zoo|onnxruntime-engine|pytorch|sentencepiece"
                            + "|tensorflow-lite|tflite|tokenizers)-.*");

    /**
     * Parses a name. The name of DJL 0.27 is followed by {@code =} and a path, unless the
     * distribution contains DJL 0.27.
     *
     * @throws IllegalArgumentException if there is no such configuration
     */
    static Rival parse(String text) {
        boolean linux = System.getProperty("os.name").equals("Linux");
        if (text.startsWith(OLD_DJL + "=")) {
            return ofOldDjl(text.substring(OLD_DJL.length() + 1));
        }
        return switch (text) {
            case OLD_DJL ->
                    Files.isDirectory(shipped())
                            ? ofOldDjl(shipped().toString())
                            : new Rival(OLD_DJL, Optional.of(Map.of()), Optional.empty());
            case TUNED_MALLOC ->
                    ofAllocator(
                            text,
                            linux
                                    ? Optional.of(
                                            Map.of(
                                                    "MALLOC_MMAP_THRESHOLD_", KEEP_BYTES,
                                                    "MALLOC_TRIM_THRESHOLD_", KEEP_BYTES))
                                    : Optional.empty());
            case JEMALLOC ->
                    ofAllocator(
                            text,
                            linux ? jemalloc(Path.of("/")).map(Rival::preload) : Optional.empty());
            default ->
                    throw new IllegalArgumentException(
                            "unknown: '%s', expected %s, %s or %s"
                                    .formatted(text, TUNED_MALLOC, JEMALLOC, OLD_DJL));
        };
    }

    private static Rival ofAllocator(String name, Optional<Map<String, String>> environment) {
        return new Rival(name, environment, Optional.empty());
    }

    /** Returns the library in the usual folders below {@code root}, or in their subfolders. */
    static Optional<Path> jemalloc(Path root) {
        return LIBRARY_FOLDERS.stream()
                .map(root::resolve)
                // Debian keeps libraries in a subfolder per architecture.
                .flatMap(
                        folder ->
                                Stream.concat(Stream.of(folder), in(folder, "*-linux-*").stream()))
                .map(folder -> folder.resolve(LIBRARY))
                .filter(Files::isReadable)
                .findFirst();
    }

    private static Map<String, String> preload(Path library) {
        String present = Strings.emptyToNull(System.getenv(PRELOAD));
        return Map.of(PRELOAD, Joiner.on(':').skipNulls().join(library.toString(), present));
    }

    /** Returns files by a pattern; none if there is no such folder. */
    private static List<Path> in(Path folder, String pattern) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern)) {
            return ImmutableList.copyOf(files);
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Returns DJL 0.27.
     *
     * @param jars DJL's jars and those of its engine: a folder, or a class path
     */
    private static Rival ofOldDjl(String jars) {
        List<String> theirs =
                Files.isDirectory(Path.of(jars))
                        ? in(Path.of(jars), "*.jar").stream().map(Path::toString).toList()
                        : List.of(jars);
        return new Rival(
                OLD_DJL,
                Optional.of(Map.of()),
                Optional.of(classPathWith(theirs, System.getProperty("java.class.path"))));
    }

    /**
     * Returns a class path of the jars {@code theirs}, and of this process's jars that are not
     * DJL's.
     */
    static String classPathWith(List<String> theirs, String ours) {
        Stream<String> rest =
                Splitter.on(File.pathSeparatorChar)
                        .splitToStream(ours)
                        .filter(entry -> !OF_DJL.matcher(fileName(entry)).matches());
        return String.join(File.pathSeparator, Stream.concat(theirs.stream(), rest).toList());
    }

    private static String fileName(String entry) {
        return entry.substring(entry.lastIndexOf(File.separatorChar) + 1);
    }

    /**
     * Returns the folder of DJL 0.27 in the distribution, next to the folder of this project's
     * jars.
     */
    private static Path shipped() {
        try {
            URL jar = Rival.class.getProtectionDomain().getCodeSource().getLocation();
            return Path.of(jar.toURI())
                    .resolve(Path.of("..", "..", "against", OLD_DJL))
                    .normalize();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the process that runs in this configuration; empty if it is not available. */
    Optional<WorkerProcess.Contestant> contestant() {
        return environment.map(
                variables ->
                        new WorkerProcess.Contestant(
                                name,
                                RunMode.STOCK,
                                variables,
                                classPath.orElseGet(() -> System.getProperty("java.class.path"))));
    }

    /**
     * Checks that this configuration can run models of an engine.
     *
     * @throws IllegalArgumentException if it cannot; the message says why
     */
    void check(EngineKind engine) {
        if (name.equals(OLD_DJL)) {
            checkArgument(
                    engine == EngineKind.TFLITE,
                    "--against: %s is for TFLite models only",
                    OLD_DJL);
            checkArgument(
                    classPath.isPresent(),
                    "--against: say where its jars are: %s=FOLDER, or =CLASSPATH",
                    OLD_DJL);
        }
    }
}
