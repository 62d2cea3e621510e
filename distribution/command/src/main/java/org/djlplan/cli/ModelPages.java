package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Drops a model's file and the files stored beside it from the page cache. */
final class ModelPages {

    private static final String KEPT = ".djlplan";

    private ModelPages() {}

    /** Drops the pages, so that the next reader reads the disk. A model without a file has none. */
    static void drop(ModelRef model) throws IOException {
        if (model instanceof ModelRef.OfFile file) {
            Path path = file.readable().toAbsolutePath();
            PageCache.drop(path);
            Path kept = path.resolveSibling(KEPT);
            if (Files.isDirectory(kept)) {
                try (DirectoryStream<Path> files =
                        Files.newDirectoryStream(kept, Files::isRegularFile)) {
                    for (Path each : files) {
                        PageCache.drop(each);
                    }
                }
            }
        }
    }
}
