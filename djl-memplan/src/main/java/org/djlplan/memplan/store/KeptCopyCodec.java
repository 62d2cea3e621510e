package org.djlplan.memplan.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/**
 * What is known of large files, on one line:
 *
 * <pre>{@code
 * {"bytes":8192,"modified":1700000000000000000,"sample":"0a…","whole":123,"derived":4096}
 * }</pre>
 */
public final class KeptCopyCodec implements Codec<KeptCopy> {

    @Override
    public String kind() {
        return "copy";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".copy.json";
    }

    @Override
    public void write(JsonWriter json, KeptCopy value) throws IOException {
        json.beginObject().name("bytes").value(value.bytes());
        json.name("modified").value(value.modifiedNanos());
        json.name("sample").value(value.sample());
        json.name("whole").value(value.whole());
        json.name("derived").value(value.derivedBeginBytes()).endObject();
    }

    @Override
    public KeptCopy read(CheckedJson json) throws IOException {
        json.beginObject();
        KeptCopy read =
                new KeptCopy(
                        json.expect("bytes").nextLong(),
                        json.expect("modified").nextLong(),
                        json.expect("sample").nextString(),
                        json.expect("whole").nextLong(),
                        json.expect("derived").nextLong());
        json.endObject();
        return read;
    }

    /** The constructor checks all that can be checked without the file. */
    @Override
    public void check(KeptCopy value) {}
}
