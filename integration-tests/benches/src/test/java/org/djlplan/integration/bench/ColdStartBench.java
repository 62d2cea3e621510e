package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures what a first load adds to a process that has loaded the engine, also in loaded classes
 * and in memory of the JVM: stock, planned, delegated with a choice that was measured before, and
 * the engine's C interface with XNNPACK.
 */
@Tag("bench")
@Tag("djl-current")
class ColdStartBench {

    private static final Pattern CLASSES = Pattern.compile("\\(classes #(\\d+)\\)");
    private static final Pattern METADATA = Pattern.compile("used=(\\d+)");
    private static final Pattern COMMITTED = Pattern.compile("Total: .*committed=(\\d+)");

    @TempDir Path folder;

    @Test
    void printWakeWord() throws Exception {
        printTfLite(RealModels.TFLITE.file("rnet"), "f1x24x24x3");
    }

    @Test
    void printMobileNet() throws Exception {
        printTfLite(TestModels.built("mobilenet_v2"), "f1x224x224x3");
    }

    /** {@code integration-tests/torchscript_models.py tiny_text} makes the model. */
    @Test
    void printTinyText() throws Exception {
        try (Turns turns = new Turns(folder, 5)) {
            String file = "file=" + turns.copy(RealModels.TORCHSCRIPT.file("tiny_text"));
            print(turns, "tiny_text", Cases.stockAndPlanned(file, "inputs=i2x64"));
        }
    }

    @Test
    void printLoaded() throws Exception {
        printLoaded("tiny_text", "i2x64");
        printLoaded("resnet50", "f1x3x224x224");
    }

    /** The figure is {@code loaded MB}, 8 s after the load, before the first prediction. */
    private void printLoaded(String name, String inputs) throws Exception {
        try (Turns turns = new Turns(folder, 5)) {
            Path model = turns.copy(RealModels.TORCHSCRIPT.file(name));
            String[] settings = {"file=" + model, "inputs=" + inputs, "wait=8", "requests=1"};
            Way planned = Cases.way("planned", "planned", settings);
            turns.compare("loaded " + name, List.of(Cases.stock(settings), planned));
        }
    }

    private void printTfLite(Path model, String inputs) throws Exception {
        try (Turns turns = new Turns(folder, 5)) {
            String[] settings = {
                "memplan.threads=1",
                "delegation.profile=blocking",
                "file=" + turns.copy(model),
                "inputs=" + inputs
            };
            Way delegated =
                    Cases.planned("delegated", Map.of("delegation.enabled", true), settings);
            List<JsonObject> unused = turns.run(delegated);
            List<Way> ways = new ArrayList<>(Cases.stockAndPlanned(settings));
            ways.add(delegated);
            ways.add(Cases.way("hand", "hand", settings));
            print(turns, model.getFileName().toString(), ways);
        }
    }

    private static void print(Turns turns, String name, List<Way> ways) throws Exception {
        turns.compare(
                name,
                ways.stream()
                        .map(
                                way ->
                                        way.jvm(Turns.heap(128))
                                                .jvm(ColdStartBench::withStatistics)
                                                .figures(ColdStartBench::figures))
                        .toList());
    }

    private static ChildJvm withStatistics(ChildJvm jvm) {
        return jvm.options(
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:NativeMemoryTracking=summary",
                "-XX:+PrintNMTStatistics");
    }

    private static List<JsonObject> figures(ChildJvm.Result result) {
        JsonObject row = Turns.objects(result).get(0);
        row.addProperty("classes", sum(CLASSES, result.out()));
        row.addProperty("metadata MB", sum(METADATA, result.out()) / 1e6);
        row.addProperty("JVM MB", sum(COMMITTED, result.out()) / 1e6);
        return List.of(row);
    }

    private static double sum(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .mapToDouble(found -> Double.parseDouble(found.group(1)))
                .sum();
    }
}
