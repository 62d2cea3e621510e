package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.djlplan.thirdparty.guava.base.Joiner;
import org.djlplan.thirdparty.guava.base.Strings;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Other memory allocators that the stock engine can run with, on Linux. */
enum Allocator {
    /** The C library's own allocator, configured to keep memory. */
    TUNED_MALLOC("tuned-malloc"),
    /** The jemalloc library, as installed on the system. */
    JEMALLOC("jemalloc");

    private static final String LIBRARY = "libjemalloc.so.2";
    private static final String PRELOAD = "LD_PRELOAD";

    /**
     * Larger than any tensor, so that no block is mapped on its own and none is returned to the
     * system.
     */
    private static final String KEEP_BYTES = Long.toString(1L << 30);

    private static final ImmutableList<String> LIBRARY_FOLDERS =
            ImmutableList.of("usr/local/lib", "usr/lib", "usr/lib64", "lib", "lib64");

    private final String label;

    Allocator(String label) {
        this.label = label;
    }

    /** Returns the name for users. */
    String label() {
        return label;
    }

    /**
     * Returns the environment variables that a process needs, or empty if the allocator is not
     * available here.
     */
    Optional<ImmutableMap<String, String>> environment() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return Optional.empty();
        }
        return switch (this) {
            case TUNED_MALLOC ->
                    Optional.of(
                            ImmutableMap.of(
                                    "MALLOC_MMAP_THRESHOLD_",
                                    KEEP_BYTES,
                                    "MALLOC_TRIM_THRESHOLD_",
                                    KEEP_BYTES));
            case JEMALLOC -> jemalloc(Path.of("/")).map(Allocator::preload);
        };
    }

    /** Returns the library in the usual folders below {@code root}, or in their subfolders. */
    static Optional<Path> jemalloc(Path root) {
        return LIBRARY_FOLDERS.stream()
                .map(root::resolve)
                .flatMap(folder -> withSubfolders(folder).stream())
                .map(folder -> folder.resolve(LIBRARY))
                .filter(Files::isReadable)
                .findFirst();
    }

    private static ImmutableMap<String, String> preload(Path library) {
        String present = Strings.emptyToNull(System.getenv(PRELOAD));
        return ImmutableMap.of(
                PRELOAD, Joiner.on(':').skipNulls().join(library.toString(), present));
    }

    /** Debian keeps libraries in a subfolder per architecture. */
    private static ImmutableList<Path> withSubfolders(Path folder) {
        ImmutableList.Builder<Path> folders = ImmutableList.<Path>builder().add(folder);
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder, "*-linux-*")) {
            children.forEach(folders::add);
        } catch (IOException e) {
            // The folder does not exist, so there is nothing in it.
        }
        return folders.build();
    }

    /** Parses an allocator's {@link #label}. */
    static final class Converter implements ITypeConverter<Allocator> {
        @Override
        public Allocator convert(String text) {
            return Arrays.stream(values())
                    .filter(allocator -> allocator.label.equals(text))
                    .findFirst()
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "unknown allocator '%s': expected %s"
                                                    .formatted(text, String.join(" or ", all()))));
        }

        private static ImmutableSet<String> all() {
            return Arrays.stream(values())
                    .map(Allocator::label)
                    .collect(ImmutableSet.toImmutableSet());
        }
    }
}
