package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.OnnxSketch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands with ONNX models. */
@Tag("onnxruntime")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class OrtCommandsTest {

    private static final String SHAPE = "1,3,64,64";

    @TempDir Path folder;

    private Result djlplan(String... line) throws Exception {
        return DjlPlanProcess.run(folder, line);
    }

    private String detector() throws Exception {
        return OrtModels.detector(folder).toString();
    }

    @Test
    void compare_onnxFile_isIdentical() throws Exception {
        Result result =
                djlplan(
                        "compare",
                        "--json",
                        "--iterations",
                        "6",
                        "--threads",
                        "1",
                        "--input-shape",
                        SHAPE,
                        detector());
        assertEquals(0, result.exitCode(), result.err());
        JsonObject json = result.json();
        assertTrue(json.get("identical").getAsBoolean(), json.toString());
        for (String way : List.of("stock", "planned")) {
            JsonObject figures = json.getAsJsonObject(way);
            assertEquals("OnnxRuntime", figures.get("engine").getAsString());
            assertTrue(figures.get("medianMillis").getAsDouble() > 0, figures.toString());
        }
        assertTrue(json.getAsJsonObject("planned").get("arenaBytes").getAsLong() > 0);
    }

    @Test
    void run_inputsInTheFile_needNoShapes() throws Exception {
        String file =
                new OnnxSketch()
                        .input("ids", OnnxSketch.Type.INT64, 2, 5)
                        .weights("words", 1000, 16)
                        .node("Gather", "words ids", "y")
                        .add()
                        .output("y", OnnxSketch.Type.FLOAT, 2, 5, 16)
                        .write(folder.resolve("words.onnx"))
                        .toString();
        Result result = DjlPlanProcess.runHere("run", "--iterations", "3", file);
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.out().contains("OnnxRuntime"), result.out());
    }

    @Test
    void run_openDimensions_asksForShapes() throws Exception {
        Result result = DjlPlanProcess.runHere("run", detector());
        assertEquals(2, result.exitCode(), result.out());
        assertTrue(result.err().contains("image ?,3,?,?"), result.err());
        assertTrue(result.err().contains("--input-shape"), result.err());
    }

    @Test
    void run_damagedFile_isRefused() throws Exception {
        Path file = Files.writeString(folder.resolve("damaged.onnx"), "no model at all");
        Result result = DjlPlanProcess.runHere("run", "--input-shape", SHAPE, file.toString());
        assertEquals(1, result.exitCode(), result.out());
        assertTrue(result.err().contains("not an ONNX model"), result.err());
    }

    @Test
    @Tag("long")
    void run_engineMissing_saysWhatToAdd() throws Exception {
        Result result =
                DjlPlanProcess.runWithout(
                        "onnxruntime", folder, "run", "--input-shape", SHAPE, detector());
        assertEquals(1, result.exitCode(), result.out());
        assertTrue(result.err().contains("onnxruntime-engine"), result.err());
        assertTrue(result.err().contains("folder lib"), result.err());
    }

    @Test
    void plan_onnxFile_plansTheAllocationsOfAPrediction() throws Exception {
        Result result =
                DjlPlanProcess.runHere(
                        "plan", "--json", "--input-shape", SHAPE, "--time-limit", "0s", detector());
        assertEquals(0, result.exitCode(), result.err());
        JsonObject json = JsonParser.parseString(result.out()).getAsJsonObject();
        assertEquals("recording", json.get("view").getAsString());
        long least = json.get("lowerBoundBytes").getAsLong();
        assertTrue(least >= 2 * 16 * 64 * 64 * 4, json.toString());
    }

    @Test
    @Tag("long")
    void report_onnxFile_hasTheMapOfAPrediction() throws Exception {
        Path data = folder.resolve("data.json");
        Result result =
                djlplan("report", "--input-shape", SHAPE, "--json", data.toString(), detector());
        assertEquals(0, result.exitCode(), result.err());
        JsonObject report = JsonParser.parseString(Files.readString(data)).getAsJsonObject();
        assertEquals("OnnxRuntime", report.getAsJsonObject("model").get("engine").getAsString());
        assertTrue(
                report.getAsJsonObject("plan").getAsJsonArray("tensors").size() >= 5,
                report.toString());
    }

    @Test
    @Tag("long")
    void size_onnxFile_measuresStockAndPlannedAndBudgets() throws Exception {
        Result result =
                djlplan(
                        "size",
                        "--json",
                        "--iterations",
                        "2",
                        "--input-shape",
                        "1,3,256,256",
                        "--budgets",
                        "64MB",
                        detector());
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.json().getAsJsonArray("sizes").size() >= 3, result.out());
    }
}
