package org.djlplan.memplan.internal.measure;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import org.djlplan.memplan.internal.machine.Mounts;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.io.RecursiveDeleteOption;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of a measuring process's files. The process that starts a measuring process holds a
 * lock on a file in the folder, which the system releases when that process ends, even if it is
 * killed. So the next process can recognize abandoned folders.
 */
public final class TemporaryFolder implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TemporaryFolder.class);

    private static final String NAME = "djlplan-measuring";
    private static final String LOCK = "lock";

    /**
     * The age at which a folder without a lock counts as abandoned; it is from an earlier version,
     * or its process ended at once.
     */
    private static final Duration SURELY_LEFT = Duration.ofDays(1);

    /** How often to retry deleting a folder into which a process is unpacking its libraries. */
    private static final int ATTEMPTS = 20;

    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Path path;
    private final FileChannel lock;

    private TemporaryFolder(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /** Creates a folder, and deletes abandoned folders of this user. */
    static TemporaryFolder create() throws IOException {
        return create(parent());
    }

    /** The process unpacks native libraries, so the folder must be where they can be loaded. */
    private static Path parent() {
        String ofJna = System.getProperty("jna.tmpdir");
        if (ofJna != null) {
            return Path.of(ofJna);
        }
        Path usual = Path.of(System.getProperty("java.io.tmpdir"));
        return Mounts.allowExecution(usual) ? usual : NativeLoader.folder().orElse(usual);
    }

    static TemporaryFolder create(Path parent) throws IOException {
        Path path = Files.createTempDirectory(parent, ownPrefix());
        try {
            // The file is renamed after it is locked, because an unlocked one marks an abandoned
            // folder.
            Path unlocked = path.resolve(LOCK + ".new");
            FileChannel lock =
                    FileChannel.open(
                            unlocked, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            FileLock unused = lock.tryLock();
            Files.move(unlocked, path.resolve(LOCK), StandardCopyOption.ATOMIC_MOVE);
            deleteLeftBehind(parent, path);
            return new TemporaryFolder(path, lock);
        } catch (IOException | RuntimeException e) {
            delete(path);
            throw e;
        }
    }

    /** Distinguishes this process from others, including an earlier one with the same id. */
    private static String ownPrefix() {
        ProcessHandle self = ProcessHandle.current();
        long started = self.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        return NAME + "-" + self.pid() + "-" + started + "-";
    }

    private static void deleteLeftBehind(Path parent, Path own) {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, NAME + "*")) {
            for (Path folder : folders) {
                if (isOfThisUser(folder, own) && isLeftBehind(folder)) {
                    logger.debug("{} was left behind", folder);
                    delete(folder);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            logger.debug("{} cannot be looked through", parent, e);
        }
    }

    private static boolean isOfThisUser(Path folder, Path own) throws IOException {
        return Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(own));
    }

    /**
     * Folders of this process are never checked, because closing their lock's file would release
     * the lock.
     */
    private static boolean isLeftBehind(Path folder) throws IOException {
        if (folder.getFileName().toString().startsWith(ownPrefix())) {
            return false;
        }
        Path file = folder.resolve(LOCK);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isBefore(Instant.now().minus(SURELY_LEFT));
        }
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    Path path() {
        return path;
    }

    /**
     * Deletes the folder with its content, even if files are added or deleted meanwhile; does
     * nothing if it does not exist.
     */
    public static void delete(Path folder) {
        IOException failure = null;
        for (int i = 0; i < ATTEMPTS && Files.exists(folder, LinkOption.NOFOLLOW_LINKS); i++) {
            if (failure != null) {
                Uninterruptibles.sleepUninterruptibly(PAUSE);
            }
            try {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            } catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null && Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            logger.debug("{} is left behind", folder, failure);
        }
    }

    /** Deletes it. */
    @Override
    public void close() {
        delete(path);
        try {
            lock.close();
        } catch (IOException e) {
            logger.debug("closing the lock in {}", path, e);
        }
    }
}
