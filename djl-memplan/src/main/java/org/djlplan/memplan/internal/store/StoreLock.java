package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock for making a value, held by one thread of all JVMs. The system releases it when the JVM
 * dies. Its empty file is not removed with the lock, because another process might be locking it.
 * If a model has many such files, the files whose last lock is the oldest are removed.
 *
 * <p>If no file can be locked, the lock works in this JVM only.
 */
public final class StoreLock implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StoreLock.class);

    /**
     * The locks that this JVM holds. Checked before a file is opened, because closing a file
     * releases all locks that this JVM holds on it.
     */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path identity;
    private final Optional<FileChannel> locked;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private StoreLock(Path identity, Optional<FileChannel> locked) {
        this.identity = identity;
        this.locked = locked;
    }

    /**
     * Locks a file beside the models or, if that fails, in the cache.
     *
     * @return empty if another thread or process holds it
     */
    static Optional<StoreLock> tryAcquire(KeptFolders folders, String name) {
        Path identity = folders.beside().resolve(name);
        if (!HELD.add(identity)) {
            return Optional.empty();
        }
        Optional<StoreLock> lock = Optional.empty();
        try {
            lock = lockAny(identity, folders, name);
            return lock;
        } finally {
            if (lock.isEmpty()) {
                HELD.remove(identity);
            }
        }
    }

    private static Optional<StoreLock> lockAny(Path identity, KeptFolders folders, String name) {
        for (Path folder : folders.both()) {
            try {
                folders.create(folder);
                return lock(folder.resolve(name))
                        .map(channel -> new StoreLock(identity, Optional.of(channel)));
            } catch (IOException e) {
                logger.debug("No lock there for {}", identity, e);
            }
        }
        return Optional.of(new StoreLock(identity, Optional.empty()));
    }

    /** Returns the open file with its lock, or empty if another process holds the lock. */
    private static Optional<FileChannel> lock(Path file) throws IOException {
        // Opening a pipe would wait for a reader.
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !KeptFolders.isFile(file)) {
            throw new FileSystemException(file.toString(), null, "not a file");
        }
        FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS);
        boolean locked = false;
        try {
            locked = channel.tryLock() != null;
            if (locked) {
                noteUse(channel);
            }
        } catch (OverlappingFileLockException e) {
            logger.debug("Held in this JVM through another path or class loader: {}", file);
        } finally {
            if (!locked) {
                channel.close();
            }
        }
        return locked ? Optional.of(channel) : Optional.empty();
    }

    /** Writes through the channel that has the lock: closing another one would release it. */
    private static void noteUse(FileChannel locked) {
        try {
            int unused = locked.write(ByteBuffer.allocate(1), 0);
            locked.truncate(0);
        } catch (IOException e) {
            logger.debug("The file may be removed while it is locked", e);
        }
    }

    /** Returns whether the lock also works between processes. */
    boolean acrossProcesses() {
        return locked.isPresent();
    }

    /** Releases the lock. A second call does nothing. */
    @Override
    public void close() {
        if (!open.getAndSet(false)) {
            return;
        }
        try {
            if (locked.isPresent()) {
                locked.get().close();
            }
        } catch (IOException e) {
            logger.debug("Closing the lock of {}", identity, e);
        } finally {
            HELD.remove(identity);
        }
    }
}
