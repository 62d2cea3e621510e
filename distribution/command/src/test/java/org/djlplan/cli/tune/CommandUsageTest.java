package org.djlplan.cli.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.cli.CliCommand;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests the messages about wrong arguments; no engine is loaded. */
class CommandUsageTest {

    @TempDir Path folder;
    private String model = "";
    private String err = "";

    @BeforeEach
    void writeModel() throws IOException {
        model = Files.writeString(folder.resolve("net.tflite"), "no model").toString();
    }

    private int tune(String... arguments) {
        return execute(new TuneCommand(), arguments);
    }

    private int study(String... arguments) {
        return execute(new StudyCommand(), arguments);
    }

    private int execute(CliCommand command, String... arguments) {
        StringWriter errors = new StringWriter();
        StringWriter out = new StringWriter();
        int code =
                new CommandLine(command)
                        .setErr(new PrintWriter(errors))
                        .setOut(new PrintWriter(out))
                        .setExecutionExceptionHandler(
                                (e, line, parsed) -> {
                                    line.getErr().println(e.getMessage());
                                    return CommandLine.ExitCode.SOFTWARE;
                                })
                        .execute(arguments);
        err = errors.toString();
        assertEquals("", out.toString());
        return code;
    }

    private void assertUsage(String wanted, String... arguments) {
        assertEquals(2, tune(ObjectArrays.concat(arguments, model)), err);
        assertTrue(err.contains(wanted), err);
    }

    @Test
    void commands_areFoundByServiceLoader() {
        Set<Class<?>> found =
                ServiceLoader.load(CliCommand.class).stream()
                        .map(ServiceLoader.Provider::type)
                        .collect(Collectors.toSet());
        assertEquals(Set.of(TuneCommand.class, StudyCommand.class), found);
    }

    @Test
    void model_ofAnotherEngine_hasNoDelegate() {
        for (String other : new String[] {"net.onnx", "zoo:resnet18", "block:a.B", "net"}) {
            assertEquals(2, tune(other), err);
            assertTrue(err.contains("only TensorFlow Lite models (.tflite) have a delegate"), err);
            assertEquals(2, study(other), err);
            assertTrue(err.contains("only TensorFlow Lite models (.tflite) have a delegate"), err);
        }
        assertEquals(2, study("net.pt"), err);
        assertTrue(err.contains("only TensorFlow Lite models (.tflite) have a delegate"), err);
    }

    @Test
    void tune_torchScript_needsShapesAndIsNeverExhaustive() throws IOException {
        String file = Files.createFile(folder.resolve("net.pt")).toString();
        assertEquals(2, tune("--exhaustive", "--input-shape", "1,3", file), err);
        assertTrue(err.contains("all its rewrites are always measured"), err);
        assertEquals(2, tune(file), err);
        assertTrue(err.contains("is required, once per input, for a TorchScript model"), err);
    }

    @Test
    void model_missing_isNamed() {
        assertEquals(1, tune(folder.resolve("other.tflite").toString()));
        assertTrue(err.contains("no such model: "), err);
        assertEquals(2, tune());
        assertTrue(err.contains("MODEL"), err);
    }

    @Test
    void tune_wrongValues_areNamedAsTyped() {
        assertUsage("--objective speed: must be latency, memory or balanced", "--objective=speed");
        assertUsage("--max-memory much: must be a size", "--max-memory=much");
        assertUsage("--threads 0: must be auto", "--threads=0");
        assertUsage("--threads many: must be auto", "--threads=1,many");
        assertUsage("--budget 25h: must be auto or a duration", "--budget=25h");
        assertUsage("--tolerance 2: must be auto or a number from 0 to 1", "--tolerance=2");
    }

    @Test
    void tune_optionsOfALoad_areCheckedAndNotSaidTwice() {
        assertUsage("memplan.threads=many: must be", "-o", "memplan.threads=many");
        assertUsage(
                "delegation.tolerance=2: must be auto or a number", "-o", "delegation.tolerance=2");
        assertUsage("nearest known one is memplan.threads", "-o", "memplan.thread=1");
        assertUsage(
                "--max-memory and -o delegation.maxMemory say the same",
                "--max-memory=1MB",
                "-o",
                "delegation.maxMemory=1MB");
        assertUsage("nothing to measure", "-o", "delegation.enabled=false");
        assertUsage("nothing to measure", "-o", "memplan.enabled=false");
    }

    @Test
    void tune_showAndExhaustive_isWrongUsage() {
        assertUsage("--show measures nothing", "--show", "--exhaustive");
    }

    @Test
    void tune_allWithoutExplain_isWrongUsage() {
        assertUsage("--all goes with --explain only", "--all");
    }

    @Test
    void tune_noModelInTheFile_failsWithMessage() {
        assertEquals(1, tune(model));
        assertFalse(err.isBlank());
        assertEquals(1, study(model));
        assertFalse(err.isBlank());
    }

    @Test
    void show_noStoredResult_reportsNone() {
        assertEquals(1, tune("--show", model));
        assertTrue(err.contains("no measurement of " + model + " is stored"), err);
    }

    @Test
    void study_wrongValues_areNamed() {
        assertEquals(2, study("--threads=0", model));
        assertTrue(err.contains("--threads must be at least 1, not 0"), err);
        assertEquals(2, study("--rounds=0", model));
        assertTrue(err.contains("--rounds must be at least 1, not 0"), err);
        assertEquals(2, study("--budget=soon", model));
        assertTrue(err.contains("--budget soon: must be a duration"), err);
    }

    @Test
    void study_chartCannotBeWritten_measuresNothing() throws IOException {
        assertEquals(1, study("--chart=" + folder.resolve("none").resolve("page.html"), model));
        assertTrue(err.contains("no such folder: " + folder.resolve("none")), err);
        Path page = Files.createDirectory(folder.resolve("page.html"));
        assertEquals(1, study("--chart=" + page, model));
        assertTrue(err.contains("a folder, not a file: " + page), err);
    }

    @Test
    void study_chartTakesTheModelsPlace_nothingIsOverwritten() throws IOException {
        assertEquals(2, study("--chart", model, model));
        assertTrue(err.contains("must be the name of an .html file"), err);
        assertEquals("no model", Files.readString(Path.of(model)));
    }
}
