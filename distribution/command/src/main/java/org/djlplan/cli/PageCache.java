package org.djlplan.cli;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The system's page cache. */
public final class PageCache {

    private static final int READ_ONLY = 0;
    private static final int NOT_NEEDED = 4;

    private PageCache() {}

    /** Functions of the C library, by their names there. */
    interface CLibrary extends Library {

        int open(String path, int flags);

        int posix_fadvise(int file, long offset, long length, int advice);

        int close(int file);
    }

    /**
     * Drops the cached pages of a file, except those that a process has mapped. Dirty pages are
     * written to disk first.
     *
     * @throws IOException if the system refuses
     */
    public static void drop(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
        CLibrary c = Native.load("c", CLibrary.class);
        int descriptor = c.open(file.toString(), READ_ONLY);
        if (descriptor < 0) {
            throw new IOException("cannot open " + file);
        }
        int error = c.posix_fadvise(descriptor, 0, 0, NOT_NEEDED);
        int unused = c.close(descriptor);
        if (error != 0) {
            throw new IOException("cannot drop the cached pages of " + file + ": error " + error);
        }
    }
}
