package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model file mapped read-only, once per file for any number of models, and unmapped when the last
 * of them closes it.
 *
 * <p>A file replaced by rename leaves the mapping as it was. A file truncated in place would crash
 * any process that reads the mapping; {@link #intact()} detects this in advance.
 */
public final class MappedFile implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(MappedFile.class);

    private static final Map<Path, Shared> OPEN = new HashMap<>();

    private final Shared shared;
    private final NativeLoader.Use use;
    private final boolean isAgain;
    private boolean closed;

    private MappedFile(Shared shared, NativeLoader.Use use, boolean isAgain) {
        this.shared = shared;
        this.use = use;
        this.isAgain = isAgain;
    }

    private static final class Shared {
        private final Path path;
        private final String identity;
        private final boolean settled;
        private final Memory mapping;
        private int users;

        /**
         * @param mapping a {@code struct djlplan_mapping}. Not one of JNA's structures, because JNA
         *     never releases their classes
         */
        Shared(Path path, Memory mapping) throws IOException {
            this.path = path;
            this.mapping = mapping;
            // Of the open file, because another file may have its name by now.
            int file = mapping.getInt(NativeMemory.MAPPING_FILE);
            FileIdentity now = FileIdentity.of(Path.of("/proc/self/fd/" + file));
            identity = now.toString();
            settled = now.isSettled();
        }

        boolean intact() {
            return NativeMemory.djlplan_mapping_intact(mapping) == 1;
        }
    }

    /**
     * Maps a file, or shares its mapping if one exists.
     *
     * @throws IOException if it cannot be read, is no regular file, is empty, or has 2 GiB or more
     */
    public static MappedFile open(Path file) throws IOException, UnsupportedPlatformException {
        NativeLoader.Use use = NativeMemory.use();
        try {
            return new MappedFile(share(file.toRealPath()), use, false);
        } catch (IOException | RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }

    /**
     * Returns another user of this mapping, even if the file was replaced or deleted since. When it
     * is closed, the file's pages in memory are returned, as if it had mapped the file itself.
     *
     * @throws IOException if this is closed, or the file was changed in place
     */
    public synchronized MappedFile again() throws IOException, UnsupportedPlatformException {
        if (!intact()) {
            throw new IOException(shared.path + " is closed, or was changed in place");
        }
        NativeLoader.Use another = NativeMemory.use();
        synchronized (OPEN) {
            shared.users++;
        }
        return new MappedFile(shared, another, true);
    }

    private static Shared share(Path path) throws IOException {
        synchronized (OPEN) {
            Shared shared = OPEN.get(path);
            if (shared == null
                    || !shared.intact()
                    || !shared.identity.equals(FileIdentity.of(path).toString())) {
                shared = mapped(path);
                OPEN.put(path, shared);
            }
            shared.users++;
            return shared;
        }
    }

    private static Shared mapped(Path path) throws IOException {
        Memory mapping = map(path);
        try {
            return new Shared(path, mapping);
        } catch (IOException | RuntimeException | Error e) {
            NativeMemory.djlplan_unmap(mapping);
            throw e;
        }
    }

    /** Returns the number of files that are mapped now. */
    public static int openCount() {
        synchronized (OPEN) {
            return OPEN.size();
        }
    }

    private static Memory map(Path path) throws IOException {
        Memory mapping = new Memory(NativeMemory.MAPPING_BYTES);
        int errno = NativeMemory.djlplan_map(path.toString(), mapping);
        if (errno == 0) {
            long bytes = mapping.getLong(NativeMemory.MAPPING_LENGTH);
            if (bytes <= Integer.MAX_VALUE) {
                return mapping;
            }
            // A buffer's size is an int, so it would have only a part of the file.
            NativeMemory.djlplan_unmap(mapping);
            throw new IOException(path + ": " + bytes + " bytes, models end at 2 GiB");
        }
        switch (errno) {
            case 2 -> throw new NoSuchFileException(path.toString());
            case 61 -> throw new IOException(path + ": is empty");
            default ->
                    throw new IOException(path + ": cannot be mapped: " + SystemError.text(errno));
        }
    }

    /** Returns the file's bytes; never to be used after {@link #close()}. */
    public ByteBuffer bytes() {
        return address().getByteBuffer(0, lengthBytes()).asReadOnlyBuffer();
    }

    /**
     * Returns the {@link FileIdentity} of the mapped file as text, as of the time when it was
     * mapped.
     */
    public String identity() {
        return shared.identity;
    }

    /** Returns whether the file has another identity after any change since it was mapped. */
    public boolean isSettled() {
        return shared.settled;
    }

    /** Returns the address of the file's first byte. */
    public Pointer address() {
        return shared.mapping.getPointer(NativeMemory.MAPPING_ADDRESS);
    }

    /** Returns the file's size. */
    public long lengthBytes() {
        return shared.mapping.getLong(NativeMemory.MAPPING_LENGTH);
    }

    /**
     * Returns whether the file has the size and time that it had when it was mapped; false once
     * this is closed, which another thread may do at any time.
     */
    public synchronized boolean intact() {
        return !closed && shared.intact();
    }

    /**
     * Returns the file's pages in memory to the system, which reads them again when they are
     * needed. To be called when the data are kept elsewhere, such as weights that a delegate
     * packed.
     */
    public synchronized void releasePages() {
        if (!closed) {
            NativeMemory.djlplan_mapping_release(shared.mapping);
        }
    }

    /**
     * Frees the disk space of a part of a file, which is zeros from then on; does nothing if the
     * file system cannot do that.
     */
    public static void punch(Path file, FileRegion part) throws UnsupportedPlatformException {
        NativeLoader.Use use = NativeMemory.use();
        int unused =
                NativeMemory.djlplan_punch(file.toString(), part.offsetBytes(), part.lengthBytes());
        use.close();
    }

    /**
     * Drops a part of a file from the system's page cache, except for pages that a process has
     * mapped; does nothing without a native library.
     */
    public static void dropCached(Path file, long offsetBytes, long lengthBytes) {
        try {
            NativeLoader.Use use = NativeMemory.use();
            NativeMemory.djlplan_drop_cached(file.toString(), offsetBytes, lengthBytes);
            use.close();
        } catch (UnsupportedPlatformException e) {
            logger.debug("{} stays in the page cache", file, e);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        synchronized (OPEN) {
            if (--shared.users == 0) {
                OPEN.remove(shared.path, shared);
                NativeMemory.djlplan_unmap(shared.mapping);
                shared.mapping.close();
            } else if (isAgain) {
                NativeMemory.djlplan_mapping_release(shared.mapping);
            }
        }
        use.close();
    }
}
