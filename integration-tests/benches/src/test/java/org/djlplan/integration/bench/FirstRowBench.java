package org.djlplan.integration.bench;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the time from an application's first statement to its first output in a new JVM: stock,
 * planned, and with a delegation that was measured before; each without and with an archive of the
 * application's classes. JVMs take turns. Prints a table; asserts nothing, because machines are
 * noisy.
 */
@Tag("bench")
@Tag("djl-current")
class FirstRowBench {

    private static final int ROUNDS = 9;
    private static final double MEGA = 1e6;

    /** The JVM's defaults, but the heap is in memory from the start. */
    private static final ImmutableList<String> JVM =
            ImmutableList.of(
                    "-XX:TieredStopAtLevel=4",
                    "-Xms256m",
                    "-Xmx256m",
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    @TempDir Path folder;

    /** A configuration of the application. */
    private record Way(String name, List<String> classPath, List<String> options) {}

    private record Row(double millis, double bytes) {}

    @Test
    void print() throws Exception {
        Path model = Files.createDirectories(folder.resolve("model")).resolve("model.tflite");
        Files.copy(TestModels.built("mobilenet_v2"), model);
        List<Way> ways = new ArrayList<>();
        for (String djl : List.of("0.27.0", "0.35.1")) {
            List<String> classPath = jars(djl);
            run(new Way("", classPath, List.of("delegation.profile=blocking")), model, List.of());
            ways.add(new Way("stock, DJL " + djl, classPath, List.of()));
            ways.add(
                    new Way("planned, DJL " + djl, classPath, List.of("delegation.enabled=false")));
            ways.add(new Way("one line, DJL " + djl, classPath, List.of("memplan.enabled=true")));
        }
        Map<String, List<Row>> rows = new TreeMap<>();
        for (Way way : ways) {
            run(way, model, List.of("-XX:ArchiveClassesAtExit=" + archive(way), "-Xlog:cds=off"));
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (Way way : ways) {
                add(rows, way.name, run(way, model, List.of()));
                Row shared = run(way, model, List.of("-XX:SharedArchiveFile=" + archive(way)));
                add(rows, way.name + ", archive", shared);
            }
        }
        for (Way way : ways) {
            for (String name : List.of(way.name, way.name + ", archive")) {
                List<Row> all = rows.get(name);
                System.out.printf(
                        Locale.ROOT,
                        "%-34s %6.0f ms (%4.0f–%4.0f) %8.1f MB%n",
                        name,
                        percentile(all, 50),
                        percentile(all, 0),
                        percentile(all, 100),
                        Quantiles.median().compute(all.stream().map(Row::bytes).toList()) / MEGA);
            }
        }
    }

    private static void add(Map<String, List<Row>> rows, String name, Row row) {
        rows.computeIfAbsent(name, n -> new ArrayList<>()).add(row);
    }

    private static double percentile(List<Row> rows, int which) {
        return Quantiles.percentiles()
                .index(which)
                .compute(rows.stream().map(Row::millis).toList());
    }

    private Path archive(Way way) {
        return folder.resolve(way.name.replaceAll("\\W+", "-") + ".jsa");
    }

    private Row run(Way way, Path model, List<String> more) throws Exception {
        List<String> options = new ArrayList<>(JVM);
        options.addAll(more);
        List<String> arguments = new ArrayList<>(List.of(model.toString()));
        arguments.addAll(way.options);
        if (!way.options.isEmpty()) {
            arguments.add("memplan.threads=1");
        }
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .classPath(way.classPath)
                        .options(options.toArray(String[]::new))
                        .run(FirstRowProgram.class, arguments.toArray(String[]::new));
        List<String> words =
                Splitter.on(' ').splitToList(result.out().lines().reduce((a, b) -> b).orElse(""));
        if (result.exitCode() != 0 || words.size() != 3) {
            throw new IllegalStateException(way.name + ": " + result.printed());
        }
        return new Row(Double.parseDouble(words.get(0)), Double.parseDouble(words.get(1)));
    }

    /** Returns a class path without folders, which an archive of classes requires. */
    private List<String> jars(String djl) throws IOException {
        List<String> path = new ArrayList<>();
        for (String entry : ChildJvm.ownClassPath()) {
            Path file = Path.of(entry);
            if (Files.isDirectory(file)) {
                path.add(jar(file).toString());
            } else if (djl.equals("0.35.1")) {
                path.add(entry);
            }
        }
        if (!djl.equals("0.35.1")) {
            path.addAll(
                    Splitter.on(File.pathSeparator)
                            .splitToList(
                                    Files.readString(Path.of("target", "djl", djl + ".txt"))
                                            .strip()));
        }
        return path;
    }

    private Path jar(Path classes) throws IOException {
        Path jar = Files.createTempFile(folder, "classes", ".jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, entries);
                entries.closeEntry();
            }
        }
        return jar;
    }
}
