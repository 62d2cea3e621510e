package org.djlplan.memplan.internal.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/**
 * Reads and writes fingerprints of files, on one line:
 *
 * <pre>{@code
 * {"file":"64768:1311","bytes":8192,"modified":1700000000000000000,"changed":1700000000000000000,
 *  "content":"8192-0a1b2c3d4e5f6071"}
 * }</pre>
 */
final class FingerprintCodec implements Codec<Fingerprint> {

    @Override
    public String kind() {
        return "fingerprint";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".fingerprint.json";
    }

    @Override
    public void write(JsonWriter json, Fingerprint value) throws IOException {
        FileIdentity identity = value.identity();
        json.beginObject().name("file").value(identity.file());
        json.name("bytes").value(identity.bytes());
        json.name("modified").value(identity.modifiedNanos());
        json.name("changed").value(identity.changedNanos());
        json.name("content").value(value.content()).endObject();
    }

    @Override
    public Fingerprint read(CheckedJson json) throws IOException {
        json.beginObject();
        FileIdentity identity =
                new FileIdentity(
                        json.expect("file").nextString(),
                        json.expect("bytes").nextLong(),
                        json.expect("modified").nextLong(),
                        json.expect("changed").nextLong());
        Fingerprint read = new Fingerprint(identity, json.expect("content").nextString());
        json.endObject();
        return read;
    }

    /** Needs no check, because its folder belongs to the application. */
    @Override
    public void check(Fingerprint value) {}
}
