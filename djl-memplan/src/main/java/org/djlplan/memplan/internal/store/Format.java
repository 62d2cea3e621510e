package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * The format of files with values of one kind, such as {@code weights}. Shown on several lines, but
 * written on one:
 *
 * <pre>{@code
 * {"version":1,
 *  "key":{"model":"resnet18","facts":{"engine":"PyTorch 2.1.1","input":"1x3x224x224:float32"}},
 *  "weights":{…},
 *  "sha256":"…"}
 * }</pre>
 *
 * <p>The checksum covers the value's text as {@link RecordJson} writes it, independent of white
 * space in the file. A file may contain anything, so any exception while reading means that it is
 * damaged.
 *
 * @param <T> the kind of value; two values with the same text are equal
 * @param kind name of the kind, for people, as the name of the JSON member, and in file names
 * @param version of the format; files of other versions are not read
 * @param type of the values
 * @param check rejects values that must not be used even though their checksum is right, because
 *     anybody with write access can compute a checksum
 */
public record Format<T extends Record>(String kind, int version, Class<T> type, Check<T> check) {

    /** Larger files are not djl-plan's; a value takes at most about twenty times as much memory. */
    static final long MOST_BYTES = 16 << 20;

    /** Decides whether a value may be used. */
    @FunctionalInterface
    public interface Check<T> {

        /**
         * Checks a value.
         *
         * @throws IOException if it must not be used
         */
        void check(T value) throws IOException;
    }

    /** Creates the format of values that their constructors check completely. */
    public Format(String kind, int version, Class<T> type) {
        this(kind, version, type, value -> {});
    }

    /** Returns the ending of file names. */
    String ending() {
        return "." + kind + ".json";
    }

    /** Returns the file name for a key: the model's name, and a hash of all facts. */
    String nameOf(StoreKey key) {
        StringBuilder identity = new StringBuilder(key.model());
        key.facts().forEach((name, fact) -> identity.append('\0' + name).append('\0').append(fact));
        return ReadableNames.of(key.model(), identity.toString()) + ending();
    }

    /**
     * Returns the content of a file.
     *
     * @throws IllegalArgumentException if the content is too large for reading
     * @throws CharacterCodingException if a string is not valid Unicode
     */
    byte[] toBytes(StoreKey key, T value) throws IOException {
        String text = RecordJson.text(value);
        StringWriter file = new StringWriter();
        JsonWriter json = new JsonWriter(file);
        json.beginObject().name("version").value(version);
        json.name("key").jsonValue(RecordJson.text(key));
        json.name(kind).jsonValue(text);
        json.name("sha256").value(sha256(text)).endObject();
        byte[] bytes = utf8(file.append('\n').toString());
        checkArgument(bytes.length <= MOST_BYTES, "%s bytes of text", bytes.length);
        return bytes;
    }

    /**
     * Returns the checksum of a text.
     *
     * @throws CharacterCodingException if the text is not valid Unicode
     */
    static String sha256(String text) throws CharacterCodingException {
        return Hashing.sha256().hashBytes(utf8(text)).toString();
    }

    /** Not String.getBytes, which writes a question mark for invalid characters. */
    private static byte[] utf8(String text) throws CharacterCodingException {
        ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }

    /**
     * Reads a file.
     *
     * @throws IOException if the file is damaged, invalid or of another version
     * @throws RuntimeException likewise
     */
    Kept<T> read(InputStream in) throws IOException {
        // A separate decoder rejects text that is not UTF-8.
        JsonReader json =
                new JsonReader(
                        new InputStreamReader(
                                ByteStreams.limit(in, MOST_BYTES),
                                StandardCharsets.UTF_8.newDecoder()));
        json.beginObject();
        expect("version", json);
        int found = json.nextInt();
        if (found != version) {
            throw new IOException("version %d of the format, not %d".formatted(found, version));
        }
        expect("key", json);
        StoreKey key = RecordJson.read(json, StoreKey.class);
        expect(kind, json);
        T value = RecordJson.read(json, type);
        expect("sha256", json);
        if (!json.nextString().equals(sha256(RecordJson.text(value)))) {
            throw new IOException("the checksum is another");
        }
        json.endObject();
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw new IOException("something follows the end");
        }
        check.check(value);
        return new Kept<>(key, value);
    }

    private static void expect(String name, JsonReader json) throws IOException {
        String found = json.nextName();
        if (!found.equals(name)) {
            throw new IOException(found + " in place of " + name);
        }
    }

    /**
     * Reads the value of one key.
     *
     * @throws IOException if the file is damaged, invalid, or of another version or key
     * @throws RuntimeException likewise
     */
    T read(StoreKey key, InputStream in) throws IOException {
        Kept<T> kept = read(in);
        if (!kept.key().equals(key)) {
            throw new IOException("the " + kind + " of another key");
        }
        return kept.value();
    }
}
