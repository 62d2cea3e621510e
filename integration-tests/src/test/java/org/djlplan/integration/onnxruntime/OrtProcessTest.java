package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnnxSketch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests ONNX models that are closed at any time, cannot be loaded, or have large outputs, each in
 * its own JVM.
 */
@Tag("onnxruntime")
class OrtProcessTest {

    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(strings = {OrtFailedLoadProgram.EARLY, "late"})
    void load_fails_nothingOfTheApplicationStays(String when) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .run(OrtFailedLoadProgram.class, folder.toString(), when);
        assertEquals(0, result.exitCode(), result.printed());
        assertEquals(
                List.of(
                        "failed",
                        "outputs 1",
                        "collected true",
                        "provider ai.djl.onnxruntime.engine.OrtEngineProvider"),
                result.out().lines().toList(),
                result.printed());
    }

    /**
     * Two outputs are in memory at once; the first prediction of planned models knows no outputs.
     */
    @Test
    void predict_largeOutputsHeld_peakIsStocks() throws Exception {
        String file = OnnxSketch.wide(25_000).write(folder.resolve("wide.onnx")).toString();
        long stock = peak(file, "stock");
        long planned = peak(file, OrtOutputsProgram.PLANNED);
        assertTrue(stock >= 200, "" + stock);
        assertTrue(planned <= stock * 11 / 10, planned + " MB, stock " + stock);
    }

    private long peak(String file, String way) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder).small().run(OrtOutputsProgram.class, file, way);
        assertEquals(0, result.exitCode(), result.printed());
        return Long.parseLong(result.out().lines().findFirst().orElseThrow().replaceAll("\\D", ""));
    }
}
