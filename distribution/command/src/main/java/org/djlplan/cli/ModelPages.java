package org.djlplan.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.djlplan.memplan.internal.runtime.MappedFile;

/** Drops a model's file and the files stored beside it from the page cache. */
public final class ModelPages {

    private static final String KEPT = ".djlplan";

    private ModelPages() {}

    /** Drops the pages, so that the next reader reads the disk. A model without a file has none. */
    static void drop(ModelRef model) throws IOException {
        if (model instanceof ModelRef.OfFile file) {
            Path path = file.readable().toAbsolutePath();
            drop(path);
            Path kept = path.resolveSibling(KEPT);
            if (Files.isDirectory(kept)) {
                try (DirectoryStream<Path> files =
                        Files.newDirectoryStream(kept, Files::isRegularFile)) {
                    for (Path each : files) {
                        drop(each);
                    }
                }
            }
        }
    }

    /** Drops all pages of a file, except those that a process has mapped. */
    public static void drop(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            // Only pages that are on the disk can be dropped.
            channel.force(true);
        }
        MappedFile.dropCached(file, 0, 0);
    }
}
