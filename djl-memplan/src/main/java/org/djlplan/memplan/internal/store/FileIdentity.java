package org.djlplan.memplan.internal.store;

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
 * The file system's data about a file, which identifies its content without reading it. It changes
 * when the file is replaced or written, because no program can set the change time of an inode.
 *
 * @param file device and inode
 * @param bytes the file's size
 * @param modifiedNanos last change of the content, in nanoseconds since 1970
 * @param changedNanos last change of content or attributes, in nanoseconds since 1970; 0 if the
 *     file system does not record it
 */
public record FileIdentity(String file, long bytes, long modifiedNanos, long changedNanos) {

    /** File systems record times in steps of up to two seconds. */
    private static final Duration COARSEST_TIME = Duration.ofSeconds(2);

    /**
     * Returns the identity of a file, or of the target of a link.
     *
     * @throws IOException if there is no such file
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

    /** Returns the identity of a file as text; empty if there is no such file. */
    public static String text(Path file) {
        try {
            return of(file).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** Returns the identity in one line, with which other processes compare theirs. */
    @Override
    public String toString() {
        return file + ' ' + bytes + ' ' + modifiedNanos + ' ' + changedNanos;
    }

    /** Written out as {@link org.djlplan.memplan.spi.Candidate#equals} is. */
    @Override
    public boolean equals(Object other) {
        return other instanceof FileIdentity && toString().equals(other.toString());
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    private static long nanos(FileTime time) {
        return time.to(TimeUnit.NANOSECONDS);
    }

    /** Returns whether the file system records each change of the file. */
    boolean hasChangeTime() {
        return changedNanos != 0;
    }

    /** Returns whether a change from now on is certain to change the recorded time. */
    public boolean isSettled() {
        return isUnchangedSince(Instant.now());
    }

    /** Returns whether the file is certain to have this content since a moment. */
    public boolean isUnchangedSince(Instant moment) {
        long latest = nanos(FileTime.from(moment.minus(COARSEST_TIME)));
        return hasChangeTime() && modifiedNanos < latest && changedNanos < latest;
    }
}
