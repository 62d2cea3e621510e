package org.djlplan.integration.documents;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The names of what is in the source folders. */
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

    /** Returns the simple names of the classes of tests and benchmarks. */
    static Set<String> testClasses() {
        return Stream.of(
                        "djl-memplan",
                        "djl-delegation",
                        "distribution/command",
                        "integration-tests",
                        "integration-tests/browser",
                        "integration-tests/spark")
                .flatMap(module -> files(module, "test"))
                .map(Sources::simpleName)
                .collect(Collectors.toSet());
    }

    private static String simpleName(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    /** The Java files of a module, relative to its source folder. */
    private static Stream<Path> files(String module, String kind) {
        Path folder = Markdown.ROOT.resolve(Path.of(module, "src", kind, "java"));
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
