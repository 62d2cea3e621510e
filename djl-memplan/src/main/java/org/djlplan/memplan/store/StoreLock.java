package org.djlplan.memplan.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right to be the only one, of all JVMs and threads, that makes a value. The system ends it
 * when the JVM dies. Its file stays, empty: one that is removed might be removed from under the
 * next holder.
 *
 * <p>Where no file can be locked it holds in this JVM only.
 */
public final class StoreLock implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StoreLock.class);

    /**
     * What this JVM holds. Looked at before a file is opened: closing a file ends all locks that
     * this JVM has on it.
     */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path identity;
    private final Optional<FileChannel> locked;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private StoreLock(Path identity, Optional<FileChannel> locked) {
        this.identity = identity;
        this.locked = locked;
    }

    /** A place of a file, of which the folder may have to be created. */
    @FunctionalInterface
    interface Place {
        Path file() throws IOException;
    }

    /**
     * Locks the first file that can be.
     *
     * @param identity what tells the value from others in this JVM
     * @param places of the file, in order of preference
     * @return empty if another one holds it
     */
    static Optional<StoreLock> tryAcquire(Path identity, List<Place> places) {
        if (!HELD.add(identity)) {
            return Optional.empty();
        }
        Optional<StoreLock> lock = Optional.empty();
        try {
            lock = lockAny(identity, places);
            return lock;
        } finally {
            if (lock.isEmpty()) {
                HELD.remove(identity);
            }
        }
    }

    private static Optional<StoreLock> lockAny(Path identity, List<Place> places) {
        for (Place place : places) {
            try {
                return lock(place.file())
                        .map(channel -> new StoreLock(identity, Optional.of(channel)));
            } catch (IOException e) {
                logger.debug("No lock there for {}", identity, e);
            }
        }
        return Optional.of(new StoreLock(identity, Optional.empty()));
    }

    /** Returns the open file with its lock, or empty if another one has it. */
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
        } catch (OverlappingFileLockException e) {
            logger.debug("Held in this JVM through another path or class loader: {}", file);
        } finally {
            if (!locked) {
                channel.close();
            }
        }
        return locked ? Optional.of(channel) : Optional.empty();
    }

    /** Returns whether it holds for other processes, too. */
    boolean acrossProcesses() {
        return locked.isPresent();
    }

    /** Lets others have it. Does nothing the second time. */
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
