package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the messages about wrong arguments; no engine is loaded. */
class CommandUsageTest extends CommandTest {

    private String model = "";

    @BeforeEach
    void writeModel() throws IOException {
        model = Files.writeString(folder.resolve("net.tflite"), "no model").toString();
    }

    private int tune(Object... arguments) {
        err.getBuffer().setLength(0);
        int code = execute(new TuneCommand(), arguments);
        assertEquals("", out.toString());
        return code;
    }

    private void assertUsage(String wanted, String... arguments) {
        assertEquals(2, tune((Object[]) ObjectArrays.concat(arguments, model)), err::toString);
        assertTrue(err.toString().contains(wanted), err::toString);
    }

    @Test
    void model_ofAnotherEngine_hasNoDelegate() {
        for (String other : new String[] {"net.onnx", "zoo:resnet18", "block:a.B", "net"}) {
            assertEquals(2, tune(other), err::toString);
            assertTrue(
                    err.toString()
                            .contains("only TensorFlow Lite models (.tflite) have a delegate"),
                    err::toString);
        }
    }

    @Test
    void tune_torchScript_needsShapesAndExplainsNoOperators() throws IOException {
        String file = Files.createFile(folder.resolve("net.pt")).toString();
        assertEquals(2, tune("--explain", "--input-shape", "1,3", file), err::toString);
        assertTrue(err.toString().contains("--explain is about operators"), err::toString);
        assertEquals(2, tune(file), err::toString);
        assertTrue(
                err.toString().contains("is required, once per input, for a TorchScript model"),
                err::toString);
    }

    @Test
    void model_missing_isNamed() {
        assertEquals(1, tune(folder.resolve("other.tflite").toString()));
        assertTrue(err.toString().contains("there is no such file: "), err::toString);
        assertEquals(2, tune());
        assertTrue(err.toString().contains("MODEL"), err::toString);
    }

    @Test
    void tune_wrongValues_areNamed() {
        assertUsage("objective=speed: must be latency, memory or balanced", "--objective=speed");
        assertUsage("maxMemory=much: must be a size", "--max-memory=much");
        assertUsage("threads=0: must be auto", "--threads=0");
        assertUsage("threads=many: must be auto", "--threads=1,many");
        assertUsage("--budget 25h: must be auto or a duration", "--budget=25h");
        assertUsage("tolerance=2: must be auto or a number from 0 to 1", "--tolerance=2");
    }

    @Test
    void tune_optionsOfALoad_areCheckedAndNotSaidTwice() {
        assertUsage("memplan.threads=many: must be", "-o", "memplan.threads=many");
        assertUsage(
                "delegation.tolerance=2: must be auto or a number", "-o", "delegation.tolerance=2");
        assertUsage("nearest known one is memplan.threads", "-o", "memplan.thread=1");
        assertUsage(
                "-o delegation.maxMemory is given, and the option of this command that says the same",
                "--max-memory=1MB",
                "-o",
                "delegation.maxMemory=1MB");
        assertUsage("nothing to measure", "-o", "delegation.enabled=false");
        assertUsage("nothing to measure", "-o", "memplan.enabled=false");
    }

    @Test
    void tune_showAndShapes_isWrongUsage() {
        assertUsage("--show measures nothing", "--show", "--input-shape=1,3");
    }

    @Test
    void tune_noModelInTheFile_failsWithMessage() {
        assertEquals(1, tune(model));
        assertFalse(err.toString().isBlank());
    }

    @Test
    void show_noStoredResult_reportsNone() {
        assertEquals(1, tune("--show", model));
        assertTrue(
                err.toString().contains("no measurement of " + model + " is stored"),
                err::toString);
    }
}
