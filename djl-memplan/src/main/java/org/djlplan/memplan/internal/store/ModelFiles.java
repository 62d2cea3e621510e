package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.djlplan.thirdparty.guava.hash.Hasher;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Computes hashes of the structure of model files, without reading weights. */
public final class ModelFiles {

    private ModelFiles() {}

    /**
     * Returns a hash of the directory of a TorchScript archive, which is a zip file: names, sizes
     * and CRC-32s of all entries in their order. It differs between archives that were written with
     * other code or weights. No entry is read, so the hash does not change if a part of the archive
     * is overwritten; where that matters, {@link Fingerprints} are used.
     *
     * @param ptFile the archive
     * @return 64 hexadecimal digits
     * @throws IOException if it cannot be read or is not a zip file
     */
    public static String archiveStructure(Path ptFile) throws IOException {
        Hasher hasher = Hashing.sha256().newHasher();
        try (ZipFile archive = new ZipFile(ptFile.toFile())) {
            // In contrast to entries(), the stream's order is specified.
            archive.stream().forEachOrdered(entry -> add(hasher, entry));
        }
        return hasher.hash().toString();
    }

    private static void add(Hasher hasher, ZipEntry entry) {
        hasher.putInt(entry.getName().length())
                .putUnencodedChars(entry.getName())
                .putLong(entry.getSize())
                .putLong(entry.getCrc());
    }
}
