package org.djlplan.integration.documents;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the packages, classes and texts in the source folders. */
final class Sources {

    private static final List<String> PRODUCT =
            List.of("djl-memplan", "djl-delegation", "distribution/command");

    private Sources() {}

    /** Returns all packages of the product. */
    static Set<String> packages() {
        return PRODUCT.stream()
                .flatMap(module -> files(module, "main"))
                .map(file -> file.getParent().toString().replace('/', '.'))
                .collect(Collectors.toSet());
    }

    /** Returns the simple names of the top-level classes of the product. */
    static Set<String> classes() {
        return PRODUCT.stream()
                .flatMap(module -> files(module, "main"))
                .map(Sources::simpleName)
                .collect(Collectors.toSet());
    }

    /** Returns the code of the product by the simple names of its files. */
    static Map<String, String> contents() {
        Map<String, String> contents = new TreeMap<>();
        for (String module : PRODUCT) {
            Path folder = folder(module, "main");
            files(module, "main")
                    .forEach(
                            file ->
                                    contents.merge(
                                            simpleName(file),
                                            read(folder.resolve(file)),
                                            String::concat));
        }
        return contents;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the simple names of the classes of tests and benchmarks. */
    static Set<String> testClasses() {
        return Stream.of(
                        "djl-memplan",
                        "djl-delegation",
                        "distribution/command",
                        "integration-tests",
                        "integration-tests/benches",
                        "integration-tests/browser",
                        "integration-tests/spark")
                .flatMap(module -> files(module, "test"))
                .map(Sources::simpleName)
                .collect(Collectors.toSet());
    }

    private static Path folder(String module, String kind) {
        return Markdown.ROOT.resolve(Path.of(module, "src", kind, "java"));
    }

    private static String simpleName(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    /** Returns the Java files of a module, relative to its source folder. */
    private static Stream<Path> files(String module, String kind) {
        Path folder = folder(module, kind);
        try (Stream<Path> all = Files.walk(folder)) {
            return all
                    .filter(file -> file.toString().endsWith(".java"))
                    .map(folder::relativize)
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
