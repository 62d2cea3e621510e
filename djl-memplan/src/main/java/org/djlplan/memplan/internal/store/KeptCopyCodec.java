package org.djlplan.memplan.internal.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/**
 * Reads and writes descriptions of large files, on one line:
 *
 * <pre>{@code
 * {"bytes":8192,"content":"8192-0a1b2c3d4e5f6071","derived":4096}
 * }</pre>
 */
public final class KeptCopyCodec implements Codec<KeptCopy> {

    @Override
    public String kind() {
        return "copy";
    }

    @Override
    public int version() {
        return 2;
    }

    @Override
    public String ending() {
        return ".copy.json";
    }

    @Override
    public void write(JsonWriter json, KeptCopy value) throws IOException {
        json.beginObject().name("bytes").value(value.bytes());
        json.name("content").value(value.content());
        json.name("derived").value(value.derivedBeginBytes()).endObject();
    }

    @Override
    public KeptCopy read(CheckedJson json) throws IOException {
        json.beginObject();
        KeptCopy read =
                new KeptCopy(
                        json.expect("bytes").nextLong(),
                        json.expect("content").nextString(),
                        json.expect("derived").nextLong());
        json.endObject();
        return read;
    }

    /** The constructor checks everything that can be checked without the file. */
    @Override
    public void check(KeptCopy value) {}
}
