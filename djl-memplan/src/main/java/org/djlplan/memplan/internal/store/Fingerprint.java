package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * A short representation of a file's content.
 *
 * @param identity of the file when it had this content
 * @param content the size, and two checksums of all bytes
 */
public record Fingerprint(FileIdentity identity, String content) {

    public Fingerprint {
        checkArgument(content.startsWith(identity.bytes() + "-"), "a content of %s", content);
    }

    /**
     * @param identity of the file
     * @param crc32 of all bytes
     * @param crc32c of all bytes
     */
    static Fingerprint of(FileIdentity identity, long crc32, long crc32c) {
        String checksums = HexFormat.of().toHexDigits(crc32 << Integer.SIZE | crc32c);
        return new Fingerprint(identity, identity.bytes() + "-" + checksums);
    }

    /**
     * Checks that a file still has this content. Must be called after something was made from the
     * file.
     *
     * @throws IOException if the file was changed or replaced
     */
    public void requireUnchanged(Path file) throws IOException {
        requireIdentity(FileIdentity.of(file), file);
    }

    /**
     * Checks that a file with another identity has this content.
     *
     * @throws IOException if the file was changed or replaced
     */
    public void requireIdentity(FileIdentity other, Path file) throws IOException {
        if (!other.equals(identity)) {
            throw new IOException(file + " was changed while it was read");
        }
    }
}
