package org.djlplan.integration.support;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;

/** Replaces some weights of models, as if a part of the model had been trained again. */
public final class ChangedWeights {

    /** So few bytes that they fit between two samples of any model large enough for a budget. */
    private static final int BYTES = 60_000;

    private ChangedWeights() {}

    /**
     * A way to change the weights in a file. The file's size and modification time do not change.
     */
    public enum Way {
        /** Another file gets its name. */
        REPLACED,
        /** A part of the file is overwritten. */
        IN_PLACE
    }

    /**
     * Changes 60 kB in a model file.
     *
     * @param part fraction of the file before these bytes, from 0 to 1; there must be 32-bit
     *     weights
     */
    public static void change(Path file, double part, Way way) throws IOException {
        if (way == Way.IN_PLACE) {
            overwrite(file, part);
            return;
        }
        Path other = file.resolveSibling("other");
        Files.copy(file, other, StandardCopyOption.COPY_ATTRIBUTES);
        overwrite(other, part);
        Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void overwrite(Path file, double part) throws IOException {
        FileTime modified = Files.getLastModifiedTime(file);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            long begin = (long) (open.length() * part) / 4 * 4;
            byte[] weights = new byte[BYTES];
            open.seek(begin);
            open.readFully(weights);
            for (int i = 0; i < BYTES; i += 4) {
                // Changes high bits, so that a weight has another size.
                weights[i + 2] ^= 0x60;
            }
            open.seek(begin);
            open.write(weights);
        }
        Files.setLastModifiedTime(file, modified);
    }
}
