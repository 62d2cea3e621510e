package org.djlplan.integration.rewrite;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Times stock and all recipes of TorchScript networks in turns, in fresh JVMs that first let
 * djl-plan choose; and services with many callers. Prints tables; asserts nothing, because machines
 * are noisy.
 */
@Tag("bench")
@Tag("djl-current")
class RecipesBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 3);
    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "6");
    private static final String THREADS = System.getProperty("djlplan.bench.threads", "1,2");

    /** How many of a network's inputs to measure. */
    private static final int INPUTS = Integer.getInteger("djlplan.bench.inputs", 3);

    /** Names of networks to measure; empty for all. */
    private static final ImmutableList<String> NAMES =
            ImmutableList.copyOf(
                    Splitter.on(',')
                            .omitEmptyStrings()
                            .split(System.getProperty("djlplan.bench.models", "")));

    private static final String STOCK = "stock";
    private static final double MEGA = 1e6;

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    /** A network and its inputs in two batches, as RecipesApplication reads them. */
    private record Network(String name, List<String> inputs) {

        static Network image(String name, int side) {
            return new Network(
                    name,
                    List.of("1,3,%1$d,%1$d".formatted(side), "8,3,%1$d,%1$d".formatted(side)));
        }

        static Network text(String name, boolean mask, String... shapes) {
            List<String> inputs = new ArrayList<>();
            for (String shape : shapes) {
                inputs.add(shape + ":tokens" + (mask ? "/" + shape + ":ones" : ""));
            }
            return new Network(name, inputs);
        }
    }

    private static final ImmutableList<Network> NETWORKS =
            ImmutableList.of(
                    Network.image("mobilenet_v2", 224),
                    Network.image("mobilenet_v3_large", 224),
                    Network.image("efficientnet_b0", 224),
                    Network.image("squeezenet1_1", 224),
                    Network.image("shufflenet_v2_x1_0", 224),
                    Network.image("resnet18", 224),
                    Network.image("resnet50", 224),
                    Network.image("resnext50_32x4d", 224),
                    Network.image("densenet121", 224),
                    Network.image("inception_v3", 299),
                    Network.image("vgg11", 224),
                    new Network(
                            "deeplabv3_mobilenet_v3_large", List.of("1,3,224,224", "4,3,224,224")),
                    new Network("image_generator", List.of("1,100", "8,100")),
                    new Network("ocr", List.of("1,1,32,200", "8,1,32,200")),
                    Network.text("tiny_text", false, "1,16", "8,64"),
                    Network.text("sentences", true, "1,16", "2,64", "8,128"),
                    Network.text("bert_text", false, "1,16", "2,64"),
                    Network.text("all-minilm-l6-v2", true, "1,16", "2,64", "8,128"),
                    Network.text("lstm", false, "1,64", "8,64"),
                    Network.text("gru", false, "1,64", "8,64"));

    private static final ImmutableList<Network> SERVICES =
            ImmutableList.of(
                    new Network(
                            "mobilenet_v2", List.of("1,3,224,224", "2,3,192,192", "1,3,160,256")),
                    Network.text("sentences", true, "1,16", "2,64", "4,32"));

    @TempDir Path folder;

    /** The figures of one candidate in one JVM. */
    private record Figures(double millis, double error, double bytes, double buildMillis) {}

    /** The result of one JVM. */
    private record Round(String chosen, Map<String, Figures> figures) {}

    @Test
    void printRecipes() throws Exception {
        print("%-28s %-12s %7s %9s %7s", "network", "input", "threads", "stock ms", "MB");
        for (Recipe recipe : Recipe.all()) {
            print(" | %-22s", recipe.name());
        }
        print(" | chosen in each round; chosen / fastest, chosen / stock%n");
        for (Network network : NETWORKS) {
            Path file = RealModels.TORCHSCRIPT.file(network.name());
            if (!NAMES.isEmpty() && !NAMES.contains(network.name())) {
                continue;
            }
            if (!Files.exists(file)) {
                print("%-28s is not there%n", network.name());
                continue;
            }
            for (String threads : Splitter.on(',').split(THREADS)) {
                for (String inputs : Iterables.limit(network.inputs(), INPUTS)) {
                    printRow(network.name(), file, inputs, threads);
                }
            }
        }
    }

    @Test
    void printServices() throws Exception {
        print(
                "%-22s %7s | %-20s | %-20s | %-20s | chosen; chosen / planned%n",
                "network", "callers", "stock: per s, MB", "planned", "chosen");
        for (Network network : SERVICES) {
            Path file = RealModels.TORCHSCRIPT.file(network.name());
            if (!Files.exists(file)) {
                print("%-22s is not there%n", network.name());
                continue;
            }
            Path own = link(file);
            String chosen = serve(own, network, "choose", "1").chosen();
            for (String callers : List.of("1", "8", "64")) {
                print("%-22s %7s", network.name(), callers);
                Map<String, Served> served = new LinkedHashMap<>();
                for (String mode : List.of(STOCK, "planned", "chosen")) {
                    Served each = serve(own, network, mode, callers);
                    print(" | %8.2f/s %6.0f MB", each.rate(), each.bytes() / MEGA);
                    served.put(mode, each);
                }
                double gain = served.get("chosen").rate() / served.get("planned").rate();
                print(" | %s; %.2f%n", chosen, gain);
            }
        }
    }

    /** The figures of a service. */
    private record Served(double rate, double bytes, String chosen) {}

    private Served serve(Path file, Network network, String mode, String callers) throws Exception {
        double rate = 0;
        double bytes = 0;
        String chosen = STOCK;
        String inputs = String.join(";", network.inputs());
        for (String line :
                run(
                        RewrittenServiceApplication.class,
                        file.toString(),
                        inputs,
                        mode,
                        callers,
                        SECONDS)) {
            List<String> words = Splitter.on(' ').splitToList(line);
            if (words.get(0).equals("served")) {
                rate = Double.parseDouble(words.get(1));
                bytes = Double.parseDouble(words.get(2));
            } else if (words.get(0).equals("chosen")) {
                chosen = words.get(1);
            }
        }
        return new Served(rate, bytes, chosen);
    }

    private Path link(Path file) throws IOException {
        Path own = Files.createTempDirectory(folder, "model").resolve(file.getFileName());
        return Files.createSymbolicLink(own, file);
    }

    private List<String> run(Class<?> main, String... arguments) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Xmx1g", "-Dai.djl.offline=true")
                        .run(main, arguments);
        if (result.exitCode() != 0) {
            throw new IllegalStateException(String.join(" ", arguments) + ": " + result.err());
        }
        return result.out().lines().toList();
    }

    private void printRow(String name, Path file, String inputs, String threads) throws Exception {
        List<Round> rounds = new ArrayList<>();
        for (int i = 0; i < FRESH; i++) {
            rounds.add(round(file, inputs, threads));
        }
        double stock = median(rounds, STOCK, Figures::millis);
        print(
                "%-28s %-12s %7s %9.2f %7.1f",
                name,
                Splitter.on(':').splitToList(inputs).get(0),
                threads,
                stock,
                median(rounds, STOCK, Figures::bytes) / MEGA);
        double fastest = 1;
        List<Double> chosen = new ArrayList<>();
        for (Recipe recipe : Recipe.all()) {
            boolean runs =
                    rounds.stream().allMatch(round -> round.figures().containsKey(recipe.name()));
            if (!runs) {
                print(" | %-22s", "refused");
                continue;
            }
            double ratio = ratio(rounds, recipe.name());
            fastest = Math.min(fastest, ratio);
            print(
                    " | %.2f %.0e %+6.1f MB %4.0f",
                    ratio,
                    median(rounds, recipe.name(), Figures::error),
                    (median(rounds, recipe.name(), Figures::bytes)
                                    - median(rounds, STOCK, Figures::bytes))
                            / MEGA,
                    median(rounds, recipe.name(), Figures::buildMillis));
        }
        for (Round round : rounds) {
            chosen.add(
                    round.chosen().equals(STOCK) || !round.figures().containsKey(round.chosen())
                            ? 1
                            : ratio(rounds, round.chosen()));
        }
        double worst = chosen.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        print(
                " | %s; %.2f, %.2f%n",
                rounds.stream().map(Round::chosen).toList(), worst / fastest, worst);
    }

    private Round round(Path file, String inputs, String threads) throws Exception {
        List<String> lines =
                run(RecipesApplication.class, link(file).toString(), inputs, threads, SECONDS);
        String chosen = STOCK;
        Map<String, Figures> figures = new LinkedHashMap<>();
        for (String line : lines) {
            List<String> words = Splitter.on(' ').splitToList(line);
            if (words.get(0).equals("chosen")) {
                chosen = words.get(1);
            } else if (words.get(0).equals("timed")) {
                figures.put(
                        words.get(1),
                        new Figures(
                                Double.parseDouble(words.get(2)),
                                Double.parseDouble(words.get(3)),
                                Double.parseDouble(words.get(4)),
                                Double.parseDouble(words.get(5))));
            }
        }
        return new Round(chosen, figures);
    }

    private interface Figure {
        double of(Figures figures);
    }

    private static double median(List<Round> rounds, String candidate, Figure figure) {
        return Quantiles.median()
                .compute(
                        rounds.stream()
                                .mapToDouble(round -> figure.of(round.figures().get(candidate)))
                                .toArray());
    }

    /** Returns the median of the rounds' ratios to stock. */
    private static double ratio(List<Round> rounds, String candidate) {
        return Quantiles.median()
                .compute(
                        rounds.stream()
                                .mapToDouble(
                                        round ->
                                                round.figures().get(candidate).millis()
                                                        / round.figures().get(STOCK).millis())
                                .toArray());
    }

    private static void print(String format, Object... arguments) {
        OUT.printf(Locale.ROOT, format, arguments);
    }
}
