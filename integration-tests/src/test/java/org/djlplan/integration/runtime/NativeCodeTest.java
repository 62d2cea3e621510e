package org.djlplan.integration.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.Bits;
import org.djlplan.integration.ModelSketch;
import org.djlplan.integration.ModelSketch.Form;
import org.djlplan.integration.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native library, compiled with sanitizers into a program of its own, with the real engine.
 * Where the compiler has no sanitizers it runs under valgrind, and without both only as it is, with
 * a warning; in CI it must have sanitizers.
 */
class NativeCodeTest {

    private static final Logger logger = LoggerFactory.getLogger(NativeCodeTest.class);

    private static final Path LIBRARY = Path.of("../djl-memplan/src/main/native");
    private static final Path PROGRAM = Path.of("src/test/native/check.c");
    private static final ImmutableList<String> SANITIZERS =
            ImmutableList.of(
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all",
                    "-fno-omit-frame-pointer");
    private static final ImmutableList<String> VALGRIND =
            ImmutableList.of("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full");
    private static final int CHANNELS = 5;

    @TempDir Path folder;

    private record Result(int status, String output) {}

    @Test
    void nativeLibrary_goodAndBadUses_violatesNothing() throws Exception {
        Path model = model().write(folder.resolve("model.tflite"));
        String engine = engineLibrary();
        Optional<String> missing = missingSanitizers();
        List<String> command = new ArrayList<>();
        if (missing.isPresent()) {
            String problem =
                    "the C compiler cannot build with " + SANITIZERS + ": " + missing.get();
            assertFalse(
                    Boolean.parseBoolean(System.getenv("CI")),
                    problem + " (Debian: apt-get install gcc libasan8 libubsan1)");
            boolean valgrind = works(List.of("valgrind", "--version"));
            logger.warn("{}; runs {} instead", problem, valgrind ? "under valgrind" : "unchecked");
            if (valgrind) {
                command.addAll(VALGRIND);
            }
        }
        command.addAll(
                List.of(
                        compile(missing.isEmpty() ? SANITIZERS : List.of()).toString(),
                        engine,
                        model.toString()));
        Result result = run(command);
        assertEquals(0, result.status(), result.output());
        assertTrue(result.output().endsWith("OK\n"), result.output());
        assertFalse(result.output().contains("runtime error"), result.output());
    }

    private Path compile(List<String> options) throws Exception {
        Path program = folder.resolve("check");
        List<String> command =
                new ArrayList<>(
                        List.of(
                                compiler(),
                                "-std=c11",
                                "-g",
                                "-O1",
                                "-Wall",
                                "-Wextra",
                                "-Werror"));
        command.addAll(options);
        command.add("-I" + LIBRARY);
        try (Stream<Path> files = Files.list(LIBRARY)) {
            files.map(Path::toString).filter(f -> f.endsWith(".c")).sorted().forEach(command::add);
        }
        command.addAll(List.of(PROGRAM.toString(), "-o", program.toString(), "-ldl", "-lpthread"));
        Result result = run(command);
        assertEquals(0, result.status(), result.output());
        return program;
    }

    /** Returns what the compiler says when it cannot build with sanitizers or the result fails. */
    private Optional<String> missingSanitizers() throws Exception {
        Path source = Files.writeString(folder.resolve("empty.c"), "int main(void) { return 0; }");
        Path program = folder.resolve("empty");
        List<String> command = new ArrayList<>(List.of(compiler()));
        command.addAll(SANITIZERS);
        command.addAll(List.of(source.toString(), "-o", program.toString()));
        Result result = run(command);
        if (result.status() == 0) {
            result = run(List.of(program.toString()));
        }
        return result.status() == 0 ? Optional.empty() : Optional.of(result.output());
    }

    private static String compiler() {
        return Optional.ofNullable(System.getenv("CC")).orElse("cc");
    }

    private boolean works(List<String> command) throws InterruptedException {
        try {
            return run(command).status() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private Result run(List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command)
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

    /** The file that this process has the engine from. */
    private static String engineLibrary() throws IOException {
        StockInterpreter.loadEngine();
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.endsWith("/libtensorflowlite_jni.so"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Convolutions with temporaries and an operator after each; any height will do. */
    private static ModelSketch model() {
        Random random = new Random(1);
        ModelSketch model = new ModelSketch();
        Form image = Form.of(ElementType.FLOAT32, 1, 4, 6, CHANNELS);
        int x = model.input(image);
        for (int i = 0; i < 3; i++) {
            Form weights = Form.of(ElementType.FLOAT32, CHANNELS, 3, 3, CHANNELS);
            Form bias = Form.of(ElementType.FLOAT32, CHANNELS);
            FlatTable options =
                    FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
            x =
                    model.operator(
                            "CONV_2D",
                            Optional.of(options),
                            image,
                            x,
                            model.constant(weights, Bits.mild(weights.bytes(), random)),
                            model.constant(bias, Bits.mild(bias.bytes(), random)));
            x = model.operator("TANH", Optional.empty(), image, x);
        }
        return model.output(x);
    }
}
