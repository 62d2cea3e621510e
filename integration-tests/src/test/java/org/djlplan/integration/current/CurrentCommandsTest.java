package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.support.LostTensor;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands on current DJL, with djl-plan's TFLite engine. */
@Tag("djl-current")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CurrentCommandsTest {

    @TempDir Path folder;

    @Test
    @Tag("long")
    void compare_zooNetwork_isIdentical() throws Exception {
        assertIdentical("zoo:lenet");
    }

    @Test
    @Tag("long")
    void compare_torchScriptFile_isIdentical() throws Exception {
        Path source = TorchScriptModels.named("cnn").file();
        Path model = Files.copy(source, folder.resolve(source.getFileName()));
        assertIdentical("--input-shape", "1,3,32,32", model.toString());
    }

    /** Also compares with a number of threads, which this engine sets for each model. */
    @Test
    @Tag("long")
    void compare_tfLiteFile_isIdentical() throws Exception {
        String model = tfLite();
        assertIdentical("--no-delegation", model);
        assertIdentical("--no-delegation", "--input-shape", "1,40,40,3", model);
    }

    /** The engine lets an operator overwrite a tensor that is read later. */
    @Test
    @Tag("long")
    void compare_modelThatTheEngineGetsWrong_comparesWithAnEngineThatKeepsEveryTensor()
            throws Exception {
        Path model = LostTensor.sketch().write(folder.resolve("lost.tflite"));
        String[] line = {
            "compare",
            "--json",
            "--iterations",
            "3",
            "--warmup",
            "0",
            "--threads",
            "1",
            "-o",
            "delegation.profile=blocking:1s",
            model.toString()
        };
        JsonObject compared = succeed(line).json();
        assertTrue(compared.get("stockLosesTensor").getAsBoolean());
        assertTrue(compared.get("identical").getAsBoolean());
        assertTrue(compared.getAsJsonObject("delegated").get("agrees").getAsBoolean());
    }

    @Test
    @Tag("long")
    void compare_againstDjlWithItsOwnEngine_saysHowFarOutputsAre() throws Exception {
        String old =
                String.join(
                        File.pathSeparator, VersionMatrix.classPath(VersionMatrix.WITH_OWN_ENGINE));
        String[] line = {
            "compare",
            "--json",
            "--no-delegation",
            "--iterations",
            "3",
            "--against",
            "djl-0.27=" + old,
            tfLite()
        };
        JsonObject other = succeed(line).json().getAsJsonObject("against");
        other = other.getAsJsonObject("djl-0.27");
        assertEquals(0, other.get("maxRelativeError").getAsDouble(), 1e-4);
        assertTrue(other.getAsJsonObject("ratios").get("medianMillis").getAsDouble() > 0);
        assertTrue(other.getAsJsonObject("figures").get("peakBytes").getAsDouble() > 0);
    }

    @Test
    void planLive_tfLiteFile_isOfTheLoadedModel() throws Exception {
        String out = succeed("plan", "--live", "--json", tfLite()).out();
        JsonObject plan = JsonParser.parseString(out).getAsJsonObject();
        assertEquals("live", plan.get("view").getAsString());
        assertTrue(plan.getAsJsonObject("best").get("provedMinimal").getAsBoolean(), out);
    }

    /** The second command uses the first one's result. */
    @Test
    @Tag("long")
    void tuneAndCompare_tfLiteFile_delegatesWithinTheLimit() throws Exception {
        String model = tfLite();
        Result tuned = succeed("tune", "--threads", "1", "--budget", "1s", "--json", model);
        JsonObject table = tuned.json().getAsJsonArray("tables").get(0).getAsJsonObject();
        assertEquals("1", table.getAsJsonObject("key").get("threads").getAsString());
        String[] line = {"compare", "--json", "--iterations", "3", "--threads", "1", model};
        JsonObject compared = succeed(line).json();
        assertTrue(compared.getAsJsonObject("delegated").get("agrees").getAsBoolean());
    }

    @Test
    @Tag("long")
    void budget_tfLiteFile_isIdenticalInside() throws Exception {
        String[] line = {"budget", "--json", "--iterations", "1", "--budgets", "256MB", tfLite()};
        Result result = succeed(line);
        JsonObject budget = result.json().getAsJsonArray("budgets").get(0).getAsJsonObject();
        assertTrue(budget.get("identical").getAsBoolean(), result.out());
    }

    /** Tests which memory belongs to which part when a part of a model is delegated. */
    @Test
    @Tag("long")
    void report_severalPredictors_listsMemoryByOwner() throws Exception {
        Path model = TestModels.built("mobilenet_v2");
        Path file = Files.copy(model, folder.resolve("model.tflite"));
        Path data = folder.resolve("data.json");
        succeed("tune", "--threads", "1", file.toString());
        succeed(
                "report",
                file.toString(),
                "--threads",
                "1",
                "--predictors",
                "2",
                "--iterations",
                "5",
                "--json",
                data.toString());
        JsonObject report = JsonParser.parseString(Files.readString(data)).getAsJsonObject();
        Map<String, Long> owners = new HashMap<>();
        for (JsonElement each : report.getAsJsonArray("memory")) {
            JsonObject owner = each.getAsJsonObject();
            owners.put(owner.get("owner").getAsString(), owner.get("bytes").getAsLong());
        }
        Set<String> known =
                Set.of(
                        "arena",
                        "inputs and outputs",
                        "delegate workspace",
                        "packed weights",
                        "mapped file");
        assertTrue(owners.keySet().containsAll(known), owners::toString);
        long packed = owners.get("packed weights");
        assertTrue(
                packed > Files.size(file) / 2 && packed < 2 * Files.size(file), owners::toString);
    }

    private String tfLite() throws Exception {
        Path model = BudgetModels.TINY_RESNET.file();
        return Files.copy(model, folder.resolve(model.getFileName())).toString();
    }

    private Result succeed(String... line) throws Exception {
        Result result = DjlPlanProcess.run(folder, line);
        assertEquals(0, result.exitCode(), result.err());
        return result;
    }

    private void assertIdentical(String... model) throws Exception {
        String[] line = {"compare", "--json", "--iterations", "3", "--threads", "1"};
        Result result = succeed(ObjectArrays.concat(line, model, String.class));
        assertTrue(result.json().get("identical").getAsBoolean(), result.out());
    }
}
