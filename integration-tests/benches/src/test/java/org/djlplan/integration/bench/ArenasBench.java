package org.djlplan.integration.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The memory and speed of PyTorch models: stock, planned by another build of this project
 * ("before"), and planned by this one. A further run shows how far predictions reach in an arena,
 * relative to the most bytes that they use at once.
 *
 * <p>{@code -Ddjlplan.bench.before=FOLDER} is the root of the other build, whose classes are
 * compiled; without it, there is none. The phase is {@code test}: later ones use jars. {@code
 * integration-tests/torchscript_models.py NAME} makes a model.
 */
@Tag("bench")
@Tag("djl-current")
class ArenasBench {

    private static final String BEFORE = System.getProperty("djlplan.bench.before", "");
    private static final int LOGGED = 60;

    /** Models, inputs, callers and requests. */
    private static final ImmutableList<String> CASES =
            ImmutableList.of(
                    "resnet18 image/one 1 150",
                    "resnet50 image/one 1 60",
                    "resnext50_32x4d image/one 1 50",
                    "inception_v3 image/one 1 60",
                    "mobilenet_v2 image/one 1 150",
                    "mobilenet_v3_large image/one 1 150",
                    "efficientnet_b0 image/one 1 100",
                    "densenet121 image/one 1 50",
                    "squeezenet1_1 image/one 1 150",
                    "vgg11 image/one 1 40",
                    "shufflenet_v2_x1_0 image/one 1 200",
                    "resnet50 image/log_normal 1 60",
                    "resnet50 batch/even 1 20",
                    "ocr line/log_normal 1 300",
                    "tiny_text text/log_normal 1 2000",
                    "tiny_text text/log_normal 8 2000",
                    "minilm text/log_normal 1 100",
                    "minilm text/log_normal 8 100",
                    "sentences masked/log_normal 1 100",
                    "bert_text text/log_normal 1 20",
                    "decoder decoder 1 1024",
                    "lstm rows/uniform 1 60",
                    "gru rows/uniform 1 60",
                    "rnn rows/uniform 1 120",
                    "growing state/one 1 120");

    /** A message of the planned model's logger. */
    private static final Pattern REACHED =
            Pattern.compile("reached (\\d+) bytes of an arena for (\\d+) in use");

    private static final String TRACE =
            "-Dorg.slf4j.simpleLogger.log.org.djlplan.memplan.internal.runtime=trace";

    @TempDir private Path folder;

    @Test
    void printTorchScript() throws Exception {
        for (String each : CASES) {
            String[] words = each.split(" ", -1);
            Path file = RealModels.TORCHSCRIPT.file(words[0]);
            int requests = Integer.getInteger("djlplan.bench.requests", Integer.parseInt(words[3]));
            print(each, file.toString(), words[1], words[2], requests);
        }
    }

    @Test
    void printZoo() throws Exception {
        for (String network : Networks.names()) {
            print("zoo:" + network, "zoo:" + network, "image/one", "1", 40);
        }
    }

    private void print(String name, String file, String inputs, String callers, int requests)
            throws Exception {
        if (!Turns.isChosen(name)) {
            return;
        }
        String[] settings = {
            "callers=" + callers, "requests=" + requests, "file=" + file, "inputs=" + inputs
        };
        List<Way> ways = new ArrayList<>(List.of(Cases.stock(settings)));
        if (!BEFORE.isEmpty()) {
            ways.add(
                    Cases.planned("before", Map.of(), settings)
                            .jvm(jvm -> jvm.classPath(classPathBefore())));
        }
        ways.add(Cases.planned("after", Map.of(), settings));
        try (Turns turns = new Turns(folder, 1)) {
            turns.compare(name, ways);
            // Simultaneous predictions share an arena.
            settings[0] = "callers=1";
            settings[1] = "requests=" + Math.min(LOGGED, requests);
            turns.run(
                    Cases.planned("arenas", Map.of(), settings)
                            .jvm(jvm -> jvm.options(TRACE))
                            .figures(
                                    result -> {
                                        printArenas(result);
                                        return List.of();
                                    }));
        }
    }

    /** Prints mean and largest quotient of a run, and the largest arena. */
    private static void printArenas(ChildJvm.Result result) {
        List<MatchResult> lines =
                REACHED.matcher(result.err())
                        .results()
                        .filter(line -> !line.group(2).equals("0"))
                        .toList();
        if (lines.isEmpty()) {
            return;
        }
        Stats quotients =
                lines.stream()
                        .map(line -> bytes(line, 1) / bytes(line, 2))
                        .collect(Stats.toStats());
        double largest = lines.stream().mapToDouble(line -> bytes(line, 1)).max().orElse(0);
        System.out.printf(
                "arena / in use: %.3f, at most %.3f in %d predictions, %.1f MB%n",
                quotients.mean(), quotients.max(), quotients.count(), largest / 1e6);
    }

    private static double bytes(MatchResult line, int group) {
        return Double.parseDouble(line.group(group));
    }

    /** Replaces this project's classes by those of the other build, except for the benchmarks. */
    private static List<String> classPathBefore() {
        Path root = Path.of("").toAbsolutePath().getParent();
        Path benches = root.resolve("integration-tests/benches");
        return ChildJvm.ownClassPath().stream()
                .map(Path::of)
                .map(
                        entry ->
                                entry.startsWith(root) && !entry.startsWith(benches)
                                        ? Path.of(BEFORE).resolve(root.relativize(entry))
                                        : entry)
                .map(Path::toString)
                .toList();
    }
}
