package org.djlplan.integration.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.FirstPrediction;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how much memory an imperative network's first prediction needs beyond the loaded model,
 * stock and planned without a stored plan; and how much later predictions and other shapes need.
 * Prints tables; asserts nothing, because machines are noisy.
 */
@Tag("bench")
class FirstPredictionBench {

    /** The options with which {@code djlplan compare} starts the JVMs that it measures. */
    private static final ImmutableList<String> QUIET =
            ImmutableList.of("-Xms128m", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");

    private static final double MEBI = 1024 * 1024;

    @TempDir Path folder;

    private List<FirstPrediction.Figures> run(Path cache, String way, List<String> arguments)
            throws Exception {
        List<String> options = new ArrayList<>(QUIET);
        options.add("-DDJL_CACHE_DIR=" + cache);
        List<String> all = new ArrayList<>(List.of(way));
        all.addAll(arguments);
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(options.toArray(String[]::new))
                        .run(FirstPrediction.class, all.toArray(String[]::new));
        if (result.exitCode() != 0) {
            throw new IllegalStateException(arguments + ": " + result.err());
        }
        return FirstPrediction.Figures.of(result.out());
    }

    @Test
    void printNetworks() throws Exception {
        print(
                "%-14s %6s %9s %9s %9s %9s %9s %9s %9s  %s%n",
                "network",
                "batch",
                "stock MiB",
                "first",
                "settled",
                "next JVM",
                "stock ms",
                "first ms",
                "settled",
                "outputs");
        List<String> networks = new ArrayList<>(Networks.names());
        networks.add(FirstPrediction.COMPOSITE);
        for (String network : networks) {
            printNetwork(network, "1");
            printNetwork(network, network.equals("yolov3") || network.equals("bert") ? "3" : "8");
        }
    }

    /** Copies the file, so that no plan lies beside it. */
    @Test
    void printTorchScript() throws Exception {
        for (Path file : RealModels.TORCHSCRIPT.present()) {
            for (String batch : List.of("1", "8")) {
                Path own = Files.createTempDirectory(folder, "model").resolve(file.getFileName());
                printNetwork(Files.copy(file, own).toString(), batch);
            }
        }
    }

    private void printNetwork(String network, String batch) throws Exception {
        List<String> four = List.of(network, batch, batch, batch, batch);
        Path cache = Files.createTempDirectory(folder, "cache");
        List<FirstPrediction.Figures> stock = run(cache, "stock", four);
        List<FirstPrediction.Figures> planned = run(cache, "planned", four);
        List<FirstPrediction.Figures> again = run(cache, "planned", four);
        print(
                "%-14s %6s %9.1f %9.1f %9.1f %9.1f %9d %9d %9d  %s%n",
                Path.of(network).getFileName(),
                batch,
                stock.get(0).peakBytes() / MEBI,
                planned.get(0).peakBytes() / MEBI,
                planned.get(3).peakBytes() / MEBI,
                again.get(3).peakBytes() / MEBI,
                stock.get(0).millis(),
                planned.get(0).millis(),
                planned.get(3).millis(),
                stock.get(0).sum().equals(planned.get(0).sum()) ? "identical" : "DIFFERENT");
    }

    /** Predicts with each shape twice: for the first time, and settled. */
    @Test
    void printOtherShapes() throws Exception {
        print(
                "%-14s %8s %9s %9s %9s  %s%n",
                "network", "shape", "stock MiB", "first", "settled", "outputs");
        printShapes("resnet50", "1", "2", "4", "4x256", "8x256");
        printShapes("mobilenet_v2", "1", "2", "4", "4x256", "8x256");
        printShapes("yolov3", "1", "2", "2x320", "3x320");
        printShapes("ssd", "1", "2", "4", "8");
        printShapes("bert", "2", "3", "4");
        printShapes(FirstPrediction.COMPOSITE, "1", "2", "4", "4x160", "8x160");
    }

    private void printShapes(String network, String... shapes) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(network));
        for (String shape : shapes) {
            arguments.addAll(List.of(shape, shape));
        }
        List<FirstPrediction.Figures> stock =
                run(Files.createTempDirectory(folder, "cache"), "stock", arguments);
        List<FirstPrediction.Figures> planned =
                run(Files.createTempDirectory(folder, "cache"), "planned", arguments);
        for (int i = 0; i < stock.size(); i += 2) {
            print(
                    "%-14s %8s %9.1f %9.1f %9.1f  %s%n",
                    network,
                    stock.get(i).shape(),
                    stock.get(i).peakBytes() / MEBI,
                    planned.get(i).peakBytes() / MEBI,
                    planned.get(i + 1).peakBytes() / MEBI,
                    stock.get(i).sum().equals(planned.get(i).sum()) ? "identical" : "DIFFERENT");
        }
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
