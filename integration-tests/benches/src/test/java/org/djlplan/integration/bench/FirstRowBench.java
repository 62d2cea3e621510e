package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the time from an application's first statement to its first output in a new JVM: stock,
 * planned, and with a delegation that was measured before; each without and with an archive of the
 * application's classes.
 */
@Tag("bench")
@Tag("djl-current")
class FirstRowBench {

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        try (Turns turns = new Turns(folder, 9)) {
            for (String djl : List.of("0.27.0", "0.35.1")) {
                String model = turns.copy(TestModels.built("mobilenet_v2")).toString();
                List<String> classPath = jars(djl);
                List<JsonObject> unused =
                        turns.run(way("", model, classPath, "delegation.profile=blocking"));
                List<Way> ways = new ArrayList<>();
                ways.add(way("stock", model, classPath));
                ways.add(way("planned", model, classPath, "delegation.enabled=false"));
                ways.add(way("one line", model, classPath, "memplan.enabled=true"));
                for (Way way : List.copyOf(ways)) {
                    Path archive = folder.resolve(djl + way.name().replace(' ', '-') + ".jsa");
                    List<JsonObject> made =
                            turns.run(
                                    way.jvm(
                                            jvm ->
                                                    jvm.options(
                                                            "-XX:ArchiveClassesAtExit=" + archive,
                                                            "-Xlog:cds=off")));
                    System.out.println(way.name() + ", archive: " + made);
                    ways.add(
                            way.named(way.name() + ", archive")
                                    .jvm(jvm -> jvm.options("-XX:SharedArchiveFile=" + archive)));
                }
                turns.compare("DJL " + djl, ways);
            }
        }
    }

    private static Way way(String name, String model, List<String> classPath, String... options) {
        List<String> arguments = new ArrayList<>(List.of(model));
        arguments.addAll(List.of(options));
        if (options.length > 0) {
            arguments.add("memplan.threads=1");
        }
        return Way.of(name, FirstRowProgram.class, arguments.toArray(String[]::new))
                .jvm(Turns.heap(256))
                .jvm(jvm -> jvm.classPath(classPath))
                .figures(FirstRowBench::figures);
    }

    private static List<JsonObject> figures(ChildJvm.Result result) {
        List<String> words =
                Splitter.on(' ')
                        .splitToList(result.out().lines().reduce((a, b) -> b).orElseThrow());
        JsonObject row = new JsonObject();
        row.addProperty("ms", Double.valueOf(words.get(0)));
        row.addProperty("MB", Double.parseDouble(words.get(1)) / 1e6);
        return List.of(row);
    }

    /** Returns a class path without folders, which an archive of classes requires. */
    private List<String> jars(String djl) throws IOException {
        boolean current = djl.equals("0.35.1");
        List<String> entries = new ArrayList<>(ChildJvm.ownClassPath());
        // An empty entry is the current folder.
        entries.removeIf(String::isEmpty);
        if (!current) {
            entries.removeIf(entry -> !isOfProject(Path.of(entry)));
            String others = Files.readString(Path.of("target", "djl", djl + ".txt")).strip();
            entries.addAll(Splitter.on(File.pathSeparator).splitToList(others));
        }
        List<String> path = new ArrayList<>();
        for (String entry : entries) {
            Path file = Path.of(entry);
            path.add(Files.isDirectory(file) ? jar(file).toString() : entry);
        }
        return path;
    }

    /** Returns whether this build made an entry, which is a jar after the phase {@code package}. */
    private static boolean isOfProject(Path entry) {
        return Files.isDirectory(entry) || entry.getParent().endsWith("target");
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
