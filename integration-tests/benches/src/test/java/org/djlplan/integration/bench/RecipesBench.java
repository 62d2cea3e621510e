package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Times stock and all recipes of TorchScript networks in turns, in fresh JVMs that first let
 * djl-plan choose; and services with many callers. {@code -Ddjlplan.bench.seconds=N}, {@code
 * -Ddjlplan.bench.threads=1,2}, {@code -Ddjlplan.bench.inputs=N} and {@code
 * -Ddjlplan.bench.models=NAME,NAME} limit what is measured.
 */
@Tag("bench")
@Tag("djl-current")
class RecipesBench {

    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "6");
    private static final String THREADS = System.getProperty("djlplan.bench.threads", "1,2");
    private static final int INPUTS = Integer.getInteger("djlplan.bench.inputs", 2);
    private static final String CHOSEN = System.getProperty("djlplan.bench.models", "");

    private static final String IMAGE = "1,3,224,224 4,3,224,224";

    /** Networks, and their inputs in several batches, as {@link RecipesApplication} reads them. */
    private static final ImmutableMap<String, String> NETWORKS =
            ImmutableMap.<String, String>builder()
                    .put("mobilenet_v2", IMAGE)
                    .put("mobilenet_v3_large", IMAGE)
                    .put("efficientnet_b0", IMAGE)
                    .put("squeezenet1_1", IMAGE)
                    .put("shufflenet_v2_x1_0", IMAGE)
                    .put("resnet18", IMAGE)
                    .put("resnet50", IMAGE)
                    .put("resnext50_32x4d", IMAGE)
                    .put("densenet121", IMAGE)
                    .put("inception_v3", "1,3,299,299 4,3,299,299")
                    .put("vgg11", IMAGE)
                    .put("deeplabv3_mobilenet_v3_large", "1,3,224,224 4,3,224,224")
                    .put("image_generator", "1,100 8,100")
                    .put("ocr", "1,1,32,200 8,1,32,200")
                    .put("tiny_text", text(false, "1,16", "8,64"))
                    .put("sentences", text(true, "1,16", "2,64", "8,128"))
                    .put("bert_text", text(false, "1,16", "2,64"))
                    .put("all-minilm-l6-v2", text(true, "1,16", "2,64", "8,128"))
                    .put("lstm", text(false, "1,64", "8,64"))
                    .put("gru", text(false, "1,64", "8,64"))
                    .buildOrThrow();

    @TempDir Path folder;

    private static String text(boolean mask, String... shapes) {
        List<String> inputs = new ArrayList<>();
        for (String shape : shapes) {
            inputs.add(shape + ":tokens" + (mask ? "/" + shape + ":ones" : ""));
        }
        return String.join(" ", inputs);
    }

    @Test
    void printRecipes() throws Exception {
        try (Turns turns = new Turns(folder, 1)) {
            for (Map.Entry<String, String> network : networks()) {
                Path file = RealModels.TORCHSCRIPT.file(network.getKey());
                for (String threads : Splitter.on(',').split(THREADS)) {
                    List<String> inputs = Splitter.on(' ').splitToList(network.getValue());
                    for (String each : inputs.subList(0, Math.min(INPUTS, inputs.size()))) {
                        Path own = turns.copy(file);
                        turns.compare(
                                network.getKey() + ", " + each + ", threads: " + threads,
                                List.of(
                                        Way.of(
                                                        "",
                                                        RecipesApplication.class,
                                                        own.toString(),
                                                        each,
                                                        threads,
                                                        SECONDS)
                                                .jvm(jvm -> jvm.options("-Xmx1g"))));
                    }
                }
            }
        }
    }

    private static List<Map.Entry<String, String>> networks() {
        return NETWORKS.entrySet().stream()
                .filter(
                        network ->
                                (CHOSEN.isEmpty()
                                                || Splitter.on(',')
                                                        .splitToList(CHOSEN)
                                                        .contains(network.getKey()))
                                        && Files.exists(
                                                RealModels.TORCHSCRIPT.file(network.getKey())))
                .toList();
    }

    @Test
    void printServices() throws Exception {
        printService("mobilenet_v2", "image/log_normal", "1", "8", "64");
        printService("sentences", "masked/log_normal", "1", "8", "64");
    }

    /** One caller, whose first input of {@link #NETWORKS} stays the same. */
    @Test
    void printLatency() throws Exception {
        for (Map.Entry<String, String> network : networks()) {
            String first = Splitter.on(' ').splitToList(network.getValue()).get(0);
            String inputs =
                    first.contains("/")
                            ? "masked/one"
                            : (first.contains(":") ? "i" : "f")
                                    + first.replaceAll(":.*", "").replace(',', 'x');
            printService(network.getKey(), inputs, "1");
        }
    }

    private void printService(String network, String inputs, String... numbersOfCallers)
            throws Exception {
        try (Turns turns = new Turns(folder, 1)) {
            Path own = turns.copy(RealModels.TORCHSCRIPT.file(network));
            for (String callers : numbersOfCallers) {
                String[] settings = {
                    "callers=" + callers,
                    "seconds=" + SECONDS,
                    "warmUp=2",
                    "file=" + own,
                    "inputs=" + inputs
                };
                Way chosen =
                        Cases.planned(
                                "chosen",
                                Map.of(
                                        "delegation.enabled",
                                        true,
                                        "delegation.profile",
                                        "blocking"),
                                settings);
                List<JsonObject> unused = turns.run(chosen);
                turns.compare(
                        network + ", callers: " + callers,
                        List.of(
                                Cases.stock(settings),
                                Cases.planned("planned", Map.of(), settings),
                                chosen));
            }
        }
    }
}
