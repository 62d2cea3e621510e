package org.djlplan.integration.nativecode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compiles the native library's sources into programs, and runs these under checkers. */
public final class NativeProgram {

    /** The sources of the programs. */
    public static final Path SOURCES = Path.of("src/test/native");

    /** The sources of the native library. */
    static final Path LIBRARY = Path.of("../djl-memplan/src/main/native");

    private static final Logger logger = LoggerFactory.getLogger(NativeProgram.class);

    private static final Path BUILT = Path.of("target", "native-code");
    private static final ImmutableList<String> OPTIONS =
            ImmutableList.of(
                    "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-I" + LIBRARY.toAbsolutePath());
    private static final ImmutableList<String> MEMORY =
            ImmutableList.of(
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all",
                    "-fno-omit-frame-pointer");

    /** Some compilers warn that fences are beyond this sanitizer. */
    private static final ImmutableList<String> THREADS =
            ImmutableList.of("-fsanitize=thread", "-fno-omit-frame-pointer", "-Wno-error");

    private static final ImmutableList<String> VALGRIND =
            ImmutableList.of("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full");

    /** Text that older compilers' thread sanitizer sometimes prints on newer kernels. */
    private static final String UNEXPECTED_MEMORY =
            "FATAL: ThreadSanitizer: unexpected memory mapping";

    private final Path folder;

    /** A checker: compiler options, or a command that runs the program. */
    record Checker(ImmutableList<String> options, ImmutableList<String> command) {}

    private record Result(int status, String output) {}

    /** Writes its files to a folder. */
    public NativeProgram(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the sanitizers of memory. If the compiler has none, programs run under valgrind;
     * without both they run unchecked, with a warning. In CI there must be sanitizers.
     */
    Checker memoryChecker() throws IOException, InterruptedException {
        Optional<String> missing = missing(MEMORY);
        if (missing.isEmpty()) {
            return new Checker(MEMORY, ImmutableList.of());
        }
        String problem = "the C compiler cannot build with " + MEMORY + ": " + missing.get();
        assertFalse(
                Boolean.parseBoolean(System.getenv("CI")),
                problem + " (Debian: apt-get install gcc libasan8 libubsan1)");
        boolean valgrind = works(List.of("valgrind", "--version"));
        logger.warn("{}; runs {} instead", problem, valgrind ? "under valgrind" : "unchecked");
        return new Checker(ImmutableList.of(), valgrind ? VALGRIND : ImmutableList.of());
    }

    /** Returns the sanitizer of threads; without it programs run unchecked, with a warning. */
    Checker threadChecker() throws IOException, InterruptedException {
        Optional<String> missing = missing(THREADS);
        missing.ifPresent(
                problem ->
                        logger.warn("the C compiler cannot build with {}: {}", THREADS, problem));
        return new Checker(missing.isEmpty() ? THREADS : ImmutableList.of(), ImmutableList.of());
    }

    /**
     * Compiles the sources of a program together with the native library, unless that has been done
     * since any of them changed.
     */
    Path compile(Checker checker, List<Path> sources) throws IOException, InterruptedException {
        return compile(checker, sources, true);
    }

    /** Compiles a program whose sources include all that it needs of the native library. */
    Path compileAlone(Checker checker, List<Path> sources)
            throws IOException, InterruptedException {
        return compile(checker, sources, false);
    }

    private Path compile(Checker checker, List<Path> sources, boolean withLibrary)
            throws IOException, InterruptedException {
        String options = Integer.toHexString(List.of(compiler(), checker.options()).hashCode());
        Path build = Files.createDirectories(BUILT.resolve(options));
        Path program =
                build.resolve(sources.get(0).getFileName().toString().replaceAll("\\.c(pp)?$", ""));
        // Another JVM runs other tests at the same time.
        try (FileChannel channel =
                FileChannel.open(
                        build.resolve("lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            FileLock unused = channel.lock();
            if (!isNewer(program, List.of(LIBRARY, SOURCES))) {
                List<String> command = command(sources.get(0));
                command.addAll(checker.options());
                sources.forEach(source -> command.add(source.toString()));
                if (withLibrary) {
                    String library = library(checker, build).toString();
                    command.addAll(
                            List.of("-Wl,--whole-archive", library, "-Wl,--no-whole-archive"));
                }
                command.addAll(List.of("-o", program.toString(), "-ldl", "-lpthread"));
                assertWorks(command);
            }
        }
        return program;
    }

    /** Returns an archive of the native library's objects. */
    private Path library(Checker checker, Path build) throws IOException, InterruptedException {
        Path archive = build.resolve("library.a");
        if (isNewer(archive, List.of(LIBRARY))) {
            return archive;
        }
        Path objects = Files.createTempDirectory(folder, "objects");
        List<String> archiver = new ArrayList<>(List.of("ar", "rcs", archive.toString()));
        List<String> command = command(Path.of("library.c"));
        command.addAll(checker.options());
        command.add("-c");
        try (Stream<Path> files = Files.list(LIBRARY)) {
            for (Path source : files.filter(f -> f.toString().endsWith(".c")).sorted().toList()) {
                command.add(source.toAbsolutePath().toString());
                String name = source.getFileName().toString().replace(".c", ".o");
                archiver.add(objects.resolve(name).toString());
            }
        }
        Files.deleteIfExists(archive);
        assertWorks(command, objects);
        assertWorks(archiver);
        return archive;
    }

    private static boolean isNewer(Path built, List<Path> folders) throws IOException {
        if (!Files.exists(built)) {
            return false;
        }
        FileTime time = Files.getLastModifiedTime(built);
        for (Path each : folders) {
            try (Stream<Path> files = Files.list(each)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    if (Files.getLastModifiedTime(file).compareTo(time) >= 0) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /** Compiles a program of one source, without the native library and without sanitizers. */
    public Path compileProgram(Path source) throws IOException, InterruptedException {
        Path program = Files.createTempDirectory(folder, "program").resolve("program");
        List<String> command = command(source);
        command.addAll(List.of("-O2", source.toString(), "-o", program.toString(), "-ldl"));
        assertWorks(command);
        return program;
    }

    /**
     * Compiles a shared library with this name, by which other libraries find it once it is loaded.
     */
    public Path compileLibrary(String name, Path source, String... options)
            throws IOException, InterruptedException {
        Path library = Files.createTempDirectory(folder, "library").resolve(name);
        List<String> command = command(source);
        command.addAll(List.of("-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname," + name));
        command.addAll(List.of(options));
        command.addAll(List.of(source.toString(), "-o", library.toString(), "-lpthread"));
        assertWorks(command);
        return library;
    }

    /**
     * Runs a program, and asserts that it printed OK at the end and that the checker found nothing.
     */
    void assertOk(Checker checker, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(checker.command());
        command.addAll(arguments);
        Result result = run(command);
        if (result.output().contains(UNEXPECTED_MEMORY)) {
            abort("the thread sanitizer does not run here: " + result.output());
        }
        assertEquals(0, result.status(), result.output());
        assertTrue(result.output().endsWith("OK\n"), result.output());
        assertFalse(result.output().contains("runtime error"), result.output());
    }

    /** Returns the compiler of a source's language, and its options. */
    private static List<String> command(Path source) {
        List<String> command =
                new ArrayList<>(
                        source.toString().endsWith(".cpp")
                                ? List.of(compiler("CXX", "c++"), "-std=c++17")
                                : List.of(compiler(), "-std=c11"));
        command.addAll(OPTIONS);
        return command;
    }

    private void assertWorks(List<String> command) throws IOException, InterruptedException {
        assertWorks(command, Path.of(""));
    }

    private void assertWorks(List<String> command, Path directory)
            throws IOException, InterruptedException {
        Result result = run(command, directory);
        assertEquals(0, result.status(), result.output());
    }

    /** Returns the error if the compiler cannot build with sanitizers, or the program fails. */
    private Optional<String> missing(List<String> sanitizers)
            throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("empty.c"), "int main(void) { return 0; }");
        Path program = folder.resolve("empty");
        List<String> command = new ArrayList<>(List.of(compiler()));
        command.addAll(sanitizers);
        command.addAll(List.of(source.toString(), "-o", program.toString()));
        Result result = run(command);
        if (result.status() == 0) {
            result = run(List.of(program.toString()));
        }
        return result.status() == 0 ? Optional.empty() : Optional.of(result.output());
    }

    /**
     * Asserts that clang-format, with the project's rules, would not change the C sources. If it is
     * not installed, logs a warning instead.
     */
    void assertFormatted() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("clang-format", "--dry-run", "--Werror"));
        if (!works(List.of("clang-format", "--version"))) {
            logger.warn("clang-format is not installed: the format of the C sources is unchecked");
            return;
        }
        for (Path sources : List.of(LIBRARY, SOURCES)) {
            try (Stream<Path> files = Files.list(sources)) {
                files.map(Path::toString)
                        .filter(file -> file.matches(".*\\.(c|cpp|h)"))
                        .sorted()
                        .forEach(command::add);
            }
        }
        assertWorks(command);
    }

    private static String compiler() {
        return compiler("CC", "cc");
    }

    private static String compiler(String variable, String usual) {
        return Optional.ofNullable(System.getenv(variable)).orElse(usual);
    }

    private boolean works(List<String> command) throws InterruptedException {
        try {
            return run(command).status() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private Result run(List<String> command) throws IOException, InterruptedException {
        return run(command, Path.of(""));
    }

    private Result run(List<String> command, Path directory)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(directory.toAbsolutePath().toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment()
                .putAll(
                        Map.of(
                                "ASAN_OPTIONS", "detect_leaks=1",
                                "UBSAN_OPTIONS", "print_stacktrace=1"));
        Process process = builder.start();
        if (!process.waitFor(2, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            fail(command + " did not end: " + Files.readString(output));
        }
        return new Result(process.exitValue(), Files.readString(output));
    }
}
