package org.djlplan.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.internal.store.FileReplacement;

/**
 * Writes output files of a command completely or not at all, even if the command is interrupted.
 */
final class WholeFile {

    private WholeFile() {}

    /**
     * Fails early, before minutes are spent on the content.
     *
     * @throws Failure if the file cannot be written
     */
    static void check(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new Failure("a folder, not a file: " + file);
        }
        if (Files.exists(file) && !Files.isWritable(file)) {
            throw new Failure("cannot write: " + file);
        }
        if (isNoRegularFile(file)) {
            return;
        }
        Path folder = target(file).getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new Failure("no such folder: " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new Failure("cannot write into the folder " + folder);
        }
    }

    /** Returns whether this is a pipe or a device, which is not replaced. */
    private static boolean isNoRegularFile(Path file) {
        return Files.exists(file) && !Files.isRegularFile(file);
    }

    /** Returns the file that is replaced. */
    private static Path target(Path file) throws IOException {
        return Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    }

    /**
     * Writes a text in UTF-8 to a temporary file and renames it; writes directly into a pipe or a
     * device.
     */
    static void write(Path file, String text) throws IOException {
        if (isNoRegularFile(file)) {
            Files.writeString(file, text);
        } else {
            FileReplacement.replace(target(file), text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
