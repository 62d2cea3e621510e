package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.FirstPrediction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how much memory a network's first prediction needs beyond the loaded model, stock and
 * planned without anything stored; and how much later predictions and other shapes need.
 */
@Tag("bench")
class FirstPredictionBench {

    private static final double MEBI = 1024 * 1024;

    @TempDir Path folder;

    /** Prints a row for each prediction, such as "planned 8x224 again". */
    private void print(String network, String... shapes) throws Exception {
        try (Turns turns = new Turns(folder, 1)) {
            List<Way> ways = new ArrayList<>();
            Path cache = Files.createTempDirectory(folder, "cache");
            for (String way : List.of("stock", "planned", "planned, next JVM")) {
                String[] arguments =
                        Stream.concat(
                                        Stream.of(way.replace(", next JVM", ""), network),
                                        Stream.of(shapes).flatMap(each -> Stream.of(each, each)))
                                .toArray(String[]::new);
                ways.add(
                        Way.of(way, FirstPrediction.class, arguments)
                                .jvm(Turns.heap(1024))
                                .jvm(jvm -> jvm.options("-Xms128m", "-DDJL_CACHE_DIR=" + cache))
                                .figures(FirstPredictionBench::rows));
            }
            turns.compare(Path.of(network).getFileName().toString(), ways);
        }
    }

    private static List<JsonObject> rows(ChildJvm.Result result) {
        List<JsonObject> rows = new ArrayList<>();
        List<FirstPrediction.Figures> all = FirstPrediction.Figures.of(result.out());
        for (int i = 0; i < all.size(); i++) {
            JsonObject row = new JsonObject();
            row.addProperty(Turns.ROW, all.get(i).shape() + (i % 2 == 0 ? " first" : " again"));
            row.addProperty("peak MiB", all.get(i).peakBytes() / MEBI);
            row.addProperty("ms", all.get(i).millis());
            row.addProperty("output", all.get(i).sum());
            rows.add(row);
        }
        return rows;
    }

    @Test
    void printNetworks() throws Exception {
        List<String> networks = new ArrayList<>(Networks.names());
        networks.add(FirstPrediction.COMPOSITE);
        for (String network : networks) {
            print(network, "1");
            print(network, network.equals("yolov3") || network.equals("bert") ? "3" : "8");
        }
    }

    @Test
    void printTorchScript() throws Exception {
        for (Path file : RealModels.TORCHSCRIPT.present()) {
            print(new Turns(folder, 1).copy(file).toString(), "1");
            print(new Turns(folder, 1).copy(file).toString(), "8");
        }
    }

    @Test
    void printOtherShapes() throws Exception {
        print("resnet50", "1", "2", "4", "4x256", "8x256");
        print("mobilenet_v2", "1", "2", "4", "4x256", "8x256");
        print("yolov3", "1", "2", "2x320", "3x320");
        print("ssd", "1", "2", "4", "8");
        print("bert", "2", "3", "4");
        print(FirstPrediction.COMPOSITE, "1", "2", "4", "4x160", "8x160");
    }
}
