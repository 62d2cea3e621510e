package org.djlplan.memplan.cli;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes outputs one after the other into a file and hashes their bytes. */
final class OutputFile implements Runner.OutputSink, AutoCloseable {

    /** Small pieces keep the copies out of the memory figures. */
    private static final int PIECE_BYTES = 8192;

    private final OutputStream out;
    private final Hasher hasher = Hashing.sha256().newHasher();
    private final JsonArray layout = new JsonArray();

    OutputFile(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file), PIECE_BYTES);
    }

    @Override
    public void accept(String type, ByteBuffer values) {
        ByteBuffer all = values.duplicate();
        all.rewind();
        JsonObject output = new JsonObject();
        output.addProperty("type", type);
        output.addProperty("bytes", all.remaining());
        layout.add(output);
        byte[] piece = new byte[PIECE_BYTES];
        try {
            while (all.hasRemaining()) {
                int count = Math.min(piece.length, all.remaining());
                all.get(piece, 0, count);
                hasher.putBytes(piece, 0, count);
                out.write(piece, 0, count);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write outputs", e);
        }
    }

    /** Returns type and bytes of every output so far. */
    JsonArray layout() {
        return layout.deepCopy();
    }

    /** Returns the SHA-256 of all outputs in hexadecimal; to be called once, at the end. */
    String sha256() {
        return hasher.hash().toString();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
