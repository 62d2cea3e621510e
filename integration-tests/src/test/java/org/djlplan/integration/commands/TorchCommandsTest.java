package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands with PyTorch models. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class TorchCommandsTest {

    private static final List<String> LOWER = List.of("float16", "bfloat16", "int8");

    @TempDir Path folder;

    /** Returns its input and a sum in a new array. */
    public static final class OwnBlock extends AbstractBlock {

        /** The command line needs this constructor. */
        public OwnBlock() {}

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> parameters) {
            return new NDList(inputs.head(), inputs.head().mul(2).sum());
        }

        @Override
        public Shape[] getOutputShapes(Shape[] shapes) {
            return new Shape[] {shapes[0], new Shape()};
        }

        @Override
        public void initializeChildBlocks(NDManager manager, DataType type, Shape... shapes) {}
    }

    private Result djlplan(String... line) throws Exception {
        return DjlPlanProcess.run(folder, line);
    }

    private String file(String name) throws Exception {
        // A copy, as plans are stored next to the model.
        Path source = TorchScriptModels.named(name).file();
        return Files.copy(source, folder.resolve(source.getFileName())).toString();
    }

    private static void assertSame(Result result) {
        assertEquals(0, result.exitCode(), result.err());
        JsonObject json = result.json();
        assertTrue(json.get("identical").getAsBoolean(), json.toString());
        for (String way : List.of("stock", "planned")) {
            JsonObject figures = json.getAsJsonObject(way);
            assertEquals("PyTorch", figures.get("engine").getAsString());
            assertTrue(figures.get("medianMillis").getAsDouble() > 0, figures.toString());
        }
    }

    /** On a current DJL it is compared by default. */
    @Tag("long")
    @Test
    void compare_torchScriptFile_isIdenticalAndTheRewrittenOneAgrees() throws Exception {
        Result result =
                djlplan(
                        "compare",
                        "--json",
                        "--iterations",
                        "6",
                        "--threads",
                        "1",
                        "--input-shape",
                        "1,3,32,32",
                        "-o",
                        "delegation.profile=blocking:1s",
                        file("cnn"));
        assertSame(result);
        JsonObject delegated = result.json().getAsJsonObject("delegated");
        assertTrue(delegated.get("agrees").getAsBoolean(), delegated.toString());
        assertEquals(
                "STORED",
                delegated.getAsJsonObject("delegation").get("origin").getAsString(),
                delegated.toString());
        assertEquals(LOWER, List.copyOf(result.json().getAsJsonObject("lowerPrecisions").keySet()));
    }

    @Test
    @Tag("long")
    void tune_torchScriptFile_measuresEachRewrite() throws Exception {
        String file = file("cnn");
        Result tuned =
                djlplan("tune", "--json", "--budget", "1s", "--input-shape", "1,3,32,32", file);
        assertEquals(0, tuned.exitCode(), tuned.err());
        JsonObject table = tuned.json().getAsJsonArray("tables").get(0).getAsJsonObject();
        List<String> candidates = new ArrayList<>();
        for (JsonElement each : table.getAsJsonArray("entries")) {
            candidates.add(each.getAsJsonObject().get("set").getAsString());
        }
        assertTrue(candidates.containsAll(List.of("CPU kernels", "frozen")), tuned.out());
        assertEquals(LOWER, List.copyOf(tuned.json().getAsJsonObject("lowerPrecisions").keySet()));
        Result shown = DjlPlanProcess.runHere("tune", "--show", file);
        assertTrue(shown.out().contains("chosen: "), shown.out());
    }

    @Test
    void plan_torchScriptFile_plansARecordedPrediction() throws Exception {
        String file = file("embedding");
        Result planned =
                DjlPlanProcess.runHere("plan", file, "--json", "--input-shape", "7,300:int64");
        assertEquals(0, planned.exitCode(), planned.err());
        JsonObject json = JsonParser.parseString(planned.out()).getAsJsonObject();
        assertEquals("recording", json.get("view").getAsString());
        // The looked-up vectors and the linear layer's outputs.
        assertEquals(
                7 * 300 * (32 + 16) * (long) Float.BYTES,
                json.getAsJsonObject("best").get("totalBytes").getAsLong(),
                planned.out());
        Result tooLarge =
                DjlPlanProcess.runHere(
                        "plan", file, "--input-shape", "7,300:int64", "--capacity", "9");
        assertEquals(1, tooLarge.exitCode());
        assertEquals(2, DjlPlanProcess.runHere("plan", file).exitCode());
    }

    @Tag("long")
    @Test
    void compare_allAllocatorsTwice_hasEachRunAndNullForMissing() throws Exception {
        Result result =
                djlplan(
                        "compare",
                        "--json",
                        "--iterations",
                        "3",
                        "--warmup",
                        "0",
                        "--threads",
                        "1",
                        "--fresh",
                        "2",
                        "--against",
                        "jemalloc,tuned-malloc",
                        "zoo:tiny");
        assertSame(result);
        JsonObject json = result.json();
        JsonArray runs = json.getAsJsonArray("runs");
        assertEquals(2, runs.size());
        JsonObject against = json.getAsJsonObject("against");
        assertEquals(List.of("jemalloc", "tuned-malloc"), List.copyOf(against.keySet()));
        assertEquals(hasJemalloc(), against.get("jemalloc").isJsonObject());
        assertEquals(!hasJemalloc(), result.err().contains("jemalloc is not available here"));
        assertTrue(against.get("tuned-malloc").isJsonObject());
        double each = 0;
        for (int i = 0; i < runs.size(); i++) {
            each += ratio(runs.get(i).getAsJsonObject()) / runs.size();
        }
        assertEquals(each, ratio(json), 1e-9);
    }

    private static double ratio(JsonObject comparison) {
        return comparison
                .getAsJsonObject("against")
                .getAsJsonObject("tuned-malloc")
                .getAsJsonObject("ratios")
                .get("medianMillis")
                .getAsDouble();
    }

    private static boolean hasJemalloc() throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("/usr/lib"), 2)) {
            return files.anyMatch(file -> file.endsWith("libjemalloc.so.2"));
        }
    }

    @Tag("long")
    @Test
    void compare_ownBlock_isIdentical() throws Exception {
        assertSame(
                djlplan(
                        "compare",
                        "--json",
                        "--iterations",
                        "3",
                        "--input-shape",
                        "2,3",
                        "block:" + OwnBlock.class.getName()));
    }

    @Test
    @Tag("long")
    void run_classThatIsNoBlock_failsWithMessage() throws Exception {
        Result result =
                DjlPlanProcess.runHere("run", "--input-shape", "1", "block:java.lang.String");
        assertEquals(1, result.exitCode());
        assertTrue(result.err().contains("block:java.lang.String is no block"), result.err());
        assertFalse(result.err().contains("\tat "), result.err());
    }

    @Tag("long")
    @Test
    void run_noModelZoo_namesMissingJar() throws Exception {
        Result result = DjlPlanProcess.runWithout("model-zoo", folder, "run", "zoo:lenet");
        assertEquals(1, result.exitCode());
        assertTrue(result.err().contains("needs ai.djl:model-zoo"), result.err());
        assertEquals(
                0,
                DjlPlanProcess.runWithout(
                                "model-zoo", folder, "run", "--iterations", "1", "zoo:tiny")
                        .exitCode());
    }

    @Test
    void run_noPyTorch_failsWithMessage() throws Exception {
        Result result = DjlPlanProcess.runWithout("pytorch-engine", folder, "run", "zoo:tiny");
        assertEquals(1, result.exitCode());
        assertTrue(result.err().contains("PyTorch engine is not on the class path"), result.err());
    }

    @Test
    @Tag("long")
    void run_manyPredictionsOfABlock_doNotPileUp() throws Exception {
        JsonObject figures =
                djlplan("run", "--stock", "--json", "--iterations", "3000", "zoo:tiny").json();
        // A prediction allocates 80 KB; kept until the end, all predictions' memory would be 240
        // MB.
        assertTrue(
                figures.get("peakAboveLoadedBytes").getAsLong() < 60_000_000, figures.toString());
    }

    @Test
    void plan_networkOfDjl_isPlannedWithoutWeights() throws Exception {
        Result result =
                DjlPlanProcess.runHere("plan", "--json", "--time-limit", "0s", "zoo:mobilenet_v2");
        assertEquals(0, result.exitCode(), result.err());
        JsonObject json = JsonParser.parseString(result.out()).getAsJsonObject();
        assertEquals("recording", json.get("view").getAsString());
        // All allocations of a prediction, of which at most a seventh are in use at once.
        long naive = json.get("naiveBytes").getAsLong();
        long bound = json.get("lowerBoundBytes").getAsLong();
        long best = json.getAsJsonObject("best").get("totalBytes").getAsLong();
        assertTrue(naive > 100_000_000, json.toString());
        assertTrue(best >= bound && best < naive / 7, json.toString());
    }

    @Test
    void plan_blockWithoutShape_isAUsageError() throws Exception {
        Result result = DjlPlanProcess.runHere("plan", "block:" + OwnBlock.class.getName());
        assertEquals(2, result.exitCode());
        assertTrue(result.err().contains("--input-shape"), result.err());
    }
}
