package org.djlplan.memplan.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What the file system knows of a file's content without reading it. It is another one once the
 * file was replaced, or written to: nobody can set the time of the last change of an inode.
 *
 * @param file device and inode
 * @param bytes the file's size
 * @param modifiedNanos when the content was changed last, in nanoseconds since 1970
 * @param changedNanos when content or attributes were changed last, likewise; 0 if the file system
 *     does not say
 */
public record FileIdentity(String file, long bytes, long modifiedNanos, long changedNanos) {

    /** File systems note times in steps, the coarsest of these is two seconds. */
    private static final Duration COARSEST_TIME = Duration.ofSeconds(2);

    /**
     * Returns the identity of a file, or of the one that a link leads to.
     *
     * @throws IOException if there is none
     */
    public static FileIdentity of(Path file) throws IOException {
        try {
            Map<String, Object> unix =
                    Files.readAttributes(file, "unix:dev,ino,size,lastModifiedTime,ctime");
            return new FileIdentity(
                    unix.get("dev") + ":" + unix.get("ino"),
                    (Long) unix.get("size"),
                    nanos((FileTime) unix.get("lastModifiedTime")),
                    nanos((FileTime) unix.get("ctime")));
        } catch (UnsupportedOperationException e) {
            BasicFileAttributes basic = Files.readAttributes(file, BasicFileAttributes.class);
            return new FileIdentity(
                    String.valueOf(basic.fileKey()),
                    basic.size(),
                    nanos(basic.lastModifiedTime()),
                    0);
        }
    }

    /** As every record's, but without what those link at their first use, which takes long. */
    @Override
    public boolean equals(Object other) {
        return other instanceof FileIdentity identity
                && file.equals(identity.file)
                && bytes == identity.bytes
                && modifiedNanos == identity.modifiedNanos
                && changedNanos == identity.changedNanos;
    }

    @Override
    public int hashCode() {
        return 31 * file.hashCode() + Long.hashCode(changedNanos);
    }

    private static long nanos(FileTime time) {
        return time.to(TimeUnit.NANOSECONDS);
    }

    /** Returns whether the file system notes each change of the file. */
    boolean hasChangeTime() {
        return changedNanos != 0;
    }

    /** Returns whether a change from now on gets another time than the last one. */
    boolean isSettled() {
        long latest = nanos(FileTime.from(Instant.now().minus(COARSEST_TIME)));
        return hasChangeTime() && modifiedNanos < latest && changedNanos < latest;
    }
}
