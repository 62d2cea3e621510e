package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests {@code djlplan report}: its workers, names and shapes, and that it leaves no files behind.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ReportCommandTest extends ReportTests {

    private static final List<String> HOSTILE =
            List.of(
                    "<script>document.title='owned'</script>",
                    "\"><img src=x onerror=alert(1)>",
                    "</script><!--",
                    "\u202eright to left\u2028\u0000",
                    "n".repeat(10_000));

    /** Three predictors run at once: never more are busy or wait, and each has run. */
    @Tag("long")
    @Test
    void predictors_option_showsWorkersAndMemoryByPurpose() throws Exception {
        Path model = net();
        JsonObject report =
                report(
                        model.toString(),
                        "--predictors",
                        "3",
                        "--iterations",
                        "300",
                        "--no-delegation");
        int most = 0;
        for (JsonElement each : report.getAsJsonObject("workers").getAsJsonArray("samples")) {
            JsonObject sample = each.getAsJsonObject();
            int all = sample.get("busy").getAsInt() + sample.get("waiting").getAsInt();
            assertTrue(all <= 3, sample.toString());
            most = Math.max(most, all);
        }
        assertTrue(most > 0, "nothing was seen to run");
        Map<String, Long> owners = new HashMap<>();
        for (JsonElement each : report.getAsJsonArray("memory")) {
            JsonObject owner = each.getAsJsonObject();
            owners.put(owner.get("owner").getAsString(), owner.get("bytes").getAsLong());
        }
        long arena =
                strategy(report.getAsJsonObject("plan"), "engine")
                        .orElseThrow()
                        .get("totalBytes")
                        .getAsLong();
        assertTrue(owners.get("arena") > 0 && owners.get("arena") <= 3 * arena, owners.toString());
        long ofOne = 2 * 16 * 16 * 8 * Float.BYTES;
        assertEquals(0, owners.get("inputs and outputs") % ofOne, owners.toString());
        assertTrue(owners.get("mapped file") <= Files.size(model) + 4096, owners.toString());
    }

    @Test
    void recordedTorchScript_hasTheOperatorOfEachAllocation_andShapes() throws Exception {
        Path model = folder.resolve("cnn.pt");
        Files.copy(TorchScriptModels.named("cnn").file(), model);
        JsonObject plan =
                report(model.toString(), "--input-shape", "1,3,32,32").getAsJsonObject("plan");
        assertShapesFill(plan);
        // Names are the engine's; how many blocks a kernel takes depends on the processor.
        assertEquals(
                Set.of(
                        "aten::add",
                        "aten::batch_norm",
                        "aten::cat",
                        "aten::conv2d",
                        "aten::linear",
                        "aten::max_pool2d",
                        "aten::mean",
                        "aten::relu",
                        "aten::relu6"),
                makers(plan).keySet());
    }

    /** Asserts that the shapes of convolutions' outputs, as floats, fill the sizes. */
    private static void assertShapesFill(JsonObject plan) {
        Set<String> convolved = new TreeSet<>();
        for (JsonElement each : plan.getAsJsonArray("tensors")) {
            JsonObject tensor = each.getAsJsonObject();
            int producer = tensor.get("producer").getAsInt();
            String operator = plan.getAsJsonArray("operators").get(producer).getAsString();
            if (operator.equals("aten::conv2d") && tensor.has("shape")) {
                convolved.add(tensor.get("shape").toString());
                long bytes = Float.BYTES;
                for (JsonElement size : tensor.getAsJsonArray("shape")) {
                    bytes *= size.getAsLong();
                }
                assertEquals(
                        UsageRecords.alignedBytes(bytes),
                        tensor.get("bytes").getAsLong(),
                        tensor::toString);
            }
        }
        assertTrue(
                convolved.containsAll(Set.of("[1,16,32,32]", "[1,8,32,32]")), convolved::toString);
    }

    @Test
    void interrupted_leavesNoFileAndNoProcess() throws Exception {
        Path files = Files.createDirectory(folder.resolve("files"));
        Path page = Files.writeString(files.resolve("page.html"), "old");
        DjlPlanProcess command =
                DjlPlanProcess.start(
                        folder,
                        "report",
                        "zoo:resnet50",
                        "--input-shape",
                        "1,3,224,224",
                        "--html",
                        page.toString(),
                        "--json",
                        files.resolve("data.json").toString());
        Await.until(
                () ->
                        command.process().descendants().findAny().isPresent()
                                || !command.process().isAlive());
        List<ProcessHandle> children = command.process().descendants().toList();

        command.interrupt();

        assertEquals(130, command.finish().exitCode());
        assertFalse(children.isEmpty());
        for (ProcessHandle child : children) {
            child.onExit().get(30, TimeUnit.SECONDS);
        }
        assertEquals("old", Files.readString(page));
        try (Stream<Path> left = Files.list(files)) {
            assertEquals(List.of(page), left.toList());
        }
    }

    @Test
    void hostileNames_areNoMarkup() throws Exception {
        Path model = folder.resolve("hostile.tflite");
        TfLiteWriter.write(named(network()), model);
        Path page = folder.resolve("page.html");
        djlplan("report", model.toString(), "--html", page.toString());
        String html = Files.readString(page);
        assertFalse(html.contains("<script>document"), "a name is markup");
        assertFalse(html.contains("<img src=x"), "a name is markup");
        assertFalse(html.contains("</script><!--"), "a name ends a script");
        assertTrue(html.contains("\\u003cscript\\u003edocument.title"), "the name is not there");
        assertTrue(html.contains("n".repeat(10_000)), "the long name is not whole");
    }

    private static TfLiteFile named(TfLiteFile file) {
        TfLiteSubgraph graph = file.main();
        List<TfLiteTensor> tensors = new ArrayList<>();
        for (TfLiteTensor tensor : graph.tensors()) {
            tensors.add(
                    new TfLiteTensor(
                            tensor.shape(),
                            tensor.shapeSignature(),
                            tensor.typeCode(),
                            tensor.buffer(),
                            HOSTILE.get(tensors.size() % HOSTILE.size()),
                            tensor.quantization(),
                            tensor.isVariable(),
                            tensor.sparsity(),
                            tensor.hasRank()));
        }
        return new TfLiteFile(
                file.description(),
                file.operatorCodes(),
                List.of(
                        new TfLiteSubgraph(
                                graph.name(),
                                tensors,
                                graph.inputs(),
                                graph.outputs(),
                                graph.operators())),
                file.buffers(),
                file.metadataBuffers(),
                file.metadata(),
                file.signatures(),
                file.notCarried());
    }
}
