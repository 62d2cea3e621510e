package org.djlplan.memplan.cli;

import com.google.common.base.Joiner;
import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Other ways to allocate memory that the stock engine can run with, on Linux. */
enum Allocator {
    /** The C library's own, told to keep what it got from the system. */
    TUNED_MALLOC("tuned-malloc"),
    /** The library of that name, as it is installed. */
    JEMALLOC("jemalloc");

    private static final String LIBRARY = "libjemalloc.so.2";
    private static final String PRELOAD = "LD_PRELOAD";

    /** Larger than any tensor: then no block is mapped on its own, and none is given back. */
    private static final String KEEP_BYTES = Long.toString(1L << 30);

    private static final ImmutableList<String> LIBRARY_FOLDERS =
            ImmutableList.of("usr/local/lib", "usr/lib", "usr/lib64", "lib", "lib64");

    private final String label;

    Allocator(String label) {
        this.label = label;
    }

    /** Returns what users call it. */
    String label() {
        return label;
    }

    /** Returns what a process's environment must say, or empty if it is not to be had here. */
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

    /** Returns the library in the usual folders below {@code root}, or in their sub-folders. */
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

    /** Debian keeps libraries in a sub-folder per architecture. */
    private static ImmutableList<Path> withSubfolders(Path folder) {
        ImmutableList.Builder<Path> folders = ImmutableList.<Path>builder().add(folder);
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder, "*-linux-*")) {
            children.forEach(folders::add);
        } catch (IOException e) {
            // No such folder: nothing in it.
        }
        return folders.build();
    }

    /** Reads {@link #label}. */
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
