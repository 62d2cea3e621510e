package org.djlplan.integration.current;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs TensorFlow Lite and PyTorch on each release of DJL, alone and together, in a JVM for each
 * combination. All jars except DJL's come from this JVM's class path, which also has {@link
 * #CURRENT}; the build provides the other releases.
 */
final class VersionMatrix {

    /** The last release with a TFLite engine of its own. */
    static final String WITH_OWN_ENGINE = "0.27.0";

    static final String CURRENT = "0.35.1";
    static final String NEWEST = "0.38.0";

    /** All releases of the matrix. */
    static final ImmutableList<String> RELEASES =
            ImmutableList.of(WITH_OWN_ENGINE, CURRENT, "0.36.0", NEWEST);

    static final String TFLITE = "TFLite";
    static final String PYTORCH = "PyTorch";

    private static final Path OTHERS = Path.of("target", "djl").toAbsolutePath();
    private static final String LINE = "%-8s %-14s %-8s %-8s %-8s %-8s %-8s %s";

    private final Path folder;

    /**
     * @param folder for what the JVMs write
     */
    VersionMatrix(Path folder) {
        this.folder = folder;
    }

    /** Returns the whole class path with a release of DJL. */
    static List<String> classPath(String release) throws IOException {
        if (release.equals(WITH_OWN_ENGINE)) {
            List<String> path = new ArrayList<>(ownTests());
            path.addAll(
                    Splitter.on(File.pathSeparator)
                            .splitToList(
                                    Files.readString(OTHERS.resolve(release + ".txt")).strip()));
            return path;
        }
        if (release.equals(CURRENT)) {
            return ChildJvm.ownClassPath();
        }
        List<String> path = new ArrayList<>();
        path.add(OTHERS.resolve("api-" + release + ".jar").toString());
        path.addAll(without(ChildJvm.ownClassPath(), "api-", "model-zoo-"));
        return path;
    }

    /** Returns this JVM's class path with an earlier release of TensorFlow Lite's library. */
    static List<String> classPathWithTfLite(String library) throws IOException {
        List<String> path = new ArrayList<>(without(ChildJvm.ownClassPath(), "tensorflow-lite-"));
        try (Stream<Path> others = Files.list(OTHERS)) {
            path.add(
                    Stream.concat(others.map(Path::toString), classPath(WITH_OWN_ENGINE).stream())
                            .filter(entry -> isNamed(entry, library))
                            .findFirst()
                            .orElseThrow());
        }
        return path;
    }

    /** Returns the folders of this module's classes, and the jar of the tests if they have one. */
    private static List<String> ownTests() {
        return ChildJvm.ownClassPath().stream()
                .filter(
                        entry ->
                                Files.isDirectory(Path.of(entry))
                                        || isNamed(entry, "integration-tests-"))
                .toList();
    }

    /** Returns a class path without the jars whose names begin with a text. */
    static List<String> without(List<String> classPath, String... beginnings) {
        return classPath.stream()
                .filter(entry -> Stream.of(beginnings).noneMatch(each -> isNamed(entry, each)))
                .toList();
    }

    private static boolean isNamed(String entry, String beginning) {
        return Path.of(entry).getFileName().toString().startsWith(beginning);
    }

    /** Returns the jar of DJL's own TFLite engine. */
    static String ownEngineOfDjl() throws IOException {
        return classPath(WITH_OWN_ENGINE).stream()
                .filter(entry -> isNamed(entry, "tflite-engine-"))
                .findFirst()
                .orElseThrow();
    }

    /** Runs models of the engines in a JVM and returns its result. */
    ChildJvm.Result run(List<String> classPath, List<String> engines) throws Exception {
        List<String> arguments = new ArrayList<>();
        for (String engine : engines) {
            Path own = Files.createTempDirectory(folder, "model");
            boolean tfLite = engine.equals(TFLITE);
            Path file =
                    tfLite
                            ? BudgetModels.TINY_RESNET.file()
                            : TorchScriptModels.named("cnn").file();
            Path copy = Files.copy(file, own.resolve(file.getFileName()));
            arguments.addAll(List.of(engine, copy.toString(), tfLite ? "1,32,32,3" : "1,3,32,32"));
        }
        return new ChildJvm(folder)
                .small()
                .classPath(classPath)
                .run(MatrixProgram.class, arguments.toArray(String[]::new));
    }

    /** Returns the JSON that a JVM printed. */
    static JsonObject seen(ChildJvm.Result result) {
        if (result.exitCode() != 0) {
            throw new IllegalStateException(result.printed());
        }
        return JsonParser.parseString(result.out().lines().reduce((a, b) -> b).orElseThrow())
                .getAsJsonObject();
    }

    /** Returns the table: a line for each release, alone and with PyTorch. */
    List<String> table() throws Exception {
        List<String> lines = new ArrayList<>();
        lines.add(line("DJL", "engines", TFLITE, "planned", "bytes", PYTORCH, "planned", "bytes"));
        for (String release : RELEASES) {
            List<String> path = classPath(release);
            JsonObject alone = seen(run(without(path, "pytorch-"), List.of(TFLITE)));
            lines.add(row("TFLite alone", alone));
            lines.add(row("with PyTorch", seen(run(path, List.of(TFLITE, PYTORCH)))));
        }
        return lines;
    }

    private static String row(String engines, JsonObject seen) {
        List<String> cells = new ArrayList<>(List.of(seen.get("djl").getAsString(), engines));
        for (String engine : List.of(TFLITE, PYTORCH)) {
            JsonObject cell = seen.getAsJsonObject(engine);
            if (cell == null) {
                cells.addAll(List.of("–", "–", "–"));
                continue;
            }
            if (cell.has("error")) {
                throw new IllegalStateException(seen.toString());
            }
            cells.add(cell.get("version").getAsString());
            cells.add(cell.get("planned").getAsBoolean() ? "yes" : "NO");
            cells.add(cell.get("same").getAsBoolean() ? "same" : "OTHERS");
        }
        return line(cells.toArray());
    }

    private static String line(Object... cells) {
        return LINE.formatted(cells).stripTrailing();
    }
}
