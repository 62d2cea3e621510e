package org.djlplan.memplan.internal.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads text that Linux writes, such as files in {@code /proc}. Names of files and threads in it
 * may be in any encoding, or cut off within a character, so malformed bytes are replaced.
 */
public final class SystemFile {

    private SystemFile() {}

    /** Returns the content. */
    public static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** Returns the lines. */
    public static List<String> lines(Path file) throws IOException {
        return text(file).lines().toList();
    }
}
