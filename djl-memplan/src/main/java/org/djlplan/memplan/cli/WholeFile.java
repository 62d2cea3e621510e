package org.djlplan.memplan.cli;

import com.google.common.io.ByteSource;
import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.store.FileReplacement;

/** Writes what a command was asked for: all of it or nothing, also when it is interrupted. */
public final class WholeFile {

    private WholeFile() {}

    /** Writes a text in UTF-8. */
    public static void write(Path file, String text) throws IOException {
        write(file, ByteSource.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Writes beside and renames; into a pipe or a device as it is. */
    static void write(Path file, ByteSource content) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            content.copyTo(MoreFiles.asByteSink(file));
        } else {
            boolean unused =
                    FileReplacement.replace(
                            Files.exists(file) ? file.toRealPath() : file.toAbsolutePath(),
                            content);
        }
    }
}
