package org.djlplan.integration.budget;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.cli.ModelPages;

/** Reports how much of a file is in the page cache. */
final class PageCache {

    private PageCache() {}

    /** Writes all files of a folder to disk and drops what is cached of them. */
    static void drop(Path folder) throws IOException {
        for (Path file : filesIn(folder)) {
            ModelPages.drop(file);
        }
    }

    /** Returns all files in a folder and the folders in it. */
    static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .sorted(Comparator.comparingInt(Path::getNameCount).reversed())
                    .toList();
        }
    }
}
