package org.djlplan.integration.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.io.TempDir;

/** Helpers for tests of {@code djlplan report} with real engines. */
abstract class ReportTests {

    @TempDir Path folder;

    static TfLiteFile network() {
        NetworkBuilder network = new NetworkBuilder("net", 1);
        LayerOutput x = network.input("in", 1, 16, 16, 8);
        for (int i = 0; i < 6; i++) {
            x = network.conv2d(x, 8, 3, 1, Activation.RELU6);
        }
        return network.output(x).build();
    }

    /** Returns a file with that network. */
    Path net() throws IOException {
        Path file = folder.resolve("net.tflite");
        TfLiteWriter.write(network(), file);
        return file;
    }

    static Result djlplan(String... arguments) {
        Result result = DjlPlanProcess.runHere(arguments);
        assertEquals(0, result.exitCode(), result.err());
        return result;
    }

    /** Returns a report's data as JSON. */
    JsonObject report(String... arguments) throws Exception {
        String data = folder.resolve("data.json").toString();
        djlplan(
                ObjectArrays.concat(
                        ObjectArrays.concat("report", arguments),
                        new String[] {"--json", data},
                        String.class));
        return read("data.json");
    }

    JsonObject read(String name) throws IOException {
        return JsonParser.parseString(Files.readString(folder.resolve(name))).getAsJsonObject();
    }

    static Optional<JsonObject> strategy(JsonObject plan, String name) {
        return plan.getAsJsonArray("strategies").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(each -> each.get("name").getAsString().equals(name))
                .findFirst();
    }

    /** Returns how many tensors each operator makes. */
    static Map<String, Integer> makers(JsonObject plan) {
        Map<String, Integer> made = new TreeMap<>();
        for (JsonElement tensor : plan.getAsJsonArray("tensors")) {
            int producer = tensor.getAsJsonObject().get("producer").getAsInt();
            assertEquals(producer, tensor.getAsJsonObject().get("first").getAsInt());
            made.merge(
                    plan.getAsJsonArray("operators").get(producer).getAsString(), 1, Integer::sum);
        }
        return made;
    }
}
