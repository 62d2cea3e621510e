package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * Converts a key and a value to the text of a file and back. The format, shown on several lines but
 * written on one:
 *
 * <pre>{@code
 * {"version":1,
 *  "key":{"model":"resnet18","facts":{"engine":"PyTorch 2.1.1","input":"1x3x224x224:float32"}},
 *  "plan":…,
 *  "sha256":"…"}
 * }</pre>
 *
 * <p>The value is stored under the name of its kind. The checksum covers the value's text as
 * written by the codec, independent of white space in the file.
 */
final class StoredFile<T> {

    /** Larger files are not djl-plan's. */
    static final long MOST_BYTES = 16 << 20;

    private static final int MOST_FACTS = 1 << 10;

    private final Codec<T> codec;

    StoredFile(Codec<T> codec) {
        this.codec = codec;
    }

    /** The result of reading a file that is not damaged. */
    sealed interface Result<T> permits Usable, OtherVersion {}

    /** An intact and valid value. */
    record Usable<T>(Kept<T> kept) implements Result<T> {}

    /** A file written by another version of this library. */
    record OtherVersion<T>(int version) implements Result<T> {}

    /** Returns the file name for a key: the model's name, and a hash of all facts. */
    String nameOf(StoreKey key) {
        StringBuilder identity = new StringBuilder(key.model());
        for (Map.Entry<String, String> fact : key.facts().entrySet()) {
            identity.append('\0').append(fact.getKey()).append('\0').append(fact.getValue());
        }
        return ReadableNames.of(key.model(), identity.toString()) + codec.ending();
    }

    /** Returns whether a file name may be the result of {@link #nameOf} for a key of this model. */
    boolean mayBeOf(String model, String fileName) {
        return ReadableNames.mayBeOf(model, fileName, codec.ending());
    }

    /** A separate decoder rejects text that is not UTF-8. */
    private static CheckedJson json(InputStream in) {
        return new CheckedJson(new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder()));
    }

    /**
     * Returns the content of a file.
     *
     * @throws IllegalArgumentException if the content exceeds the limits for reading
     * @throws CharacterCodingException if a string is not valid Unicode
     */
    byte[] toBytes(StoreKey key, T value) throws IOException {
        checkArgument(key.facts().size() <= MOST_FACTS, "%s facts", key.facts().size());
        String valueText = text(value);
        StringWriter text = new StringWriter();
        JsonWriter json = new JsonWriter(text);
        json.beginObject().name("version").value(codec.version());
        json.name("key").beginObject().name("model").value(key.model());
        json.name("facts").beginObject();
        for (Map.Entry<String, String> fact : key.facts().entrySet()) {
            json.name(fact.getKey()).value(fact.getValue());
        }
        json.endObject().endObject();
        json.name(codec.kind()).jsonValue(valueText);
        json.name("sha256").value(sha256(valueText)).endObject();
        byte[] bytes = utf8(text.append('\n').toString());
        checkArgument(bytes.length <= MOST_BYTES, "%s bytes of text", bytes.length);
        return bytes;
    }

    /** Returns the canonical text of a value, which is checksummed. */
    private String text(T value) throws IOException {
        StringWriter text = new StringWriter();
        codec.write(new JsonWriter(text), value);
        return text.toString();
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
     * Reads a file. Never keeps more in memory than the largest value needs, whatever the file
     * contains.
     *
     * @throws IOException if the file is damaged or invalid
     * @throws RuntimeException likewise
     */
    Result<T> read(InputStream in) throws IOException {
        CheckedJson json = json(in);
        json.beginObject();
        int version = json.expect("version").nextInt();
        if (version != codec.version()) {
            return new OtherVersion<>(version);
        }
        StoreKey key = key(json);
        T value = codec.read(json.expect(codec.kind()));
        if (!json.expect("sha256").nextString().equals(sha256(text(value)))) {
            throw new IOException("the checksum is another");
        }
        json.endObject();
        json.end();
        codec.check(value);
        return new Usable<>(new Kept<>(key, value));
    }

    /**
     * Reads the value of one key from an untrusted file.
     *
     * @return empty if another version of this library wrote the file
     * @throws IOException if the file is damaged, invalid or of another key
     * @throws RuntimeException likewise
     */
    Optional<T> read(StoreKey key, InputStream in) throws IOException {
        Result<T> result = read(ByteStreams.limit(in, MOST_BYTES));
        if (!(result instanceof Usable<T> usable)) {
            return Optional.empty();
        }
        if (!usable.kept().key().equals(key)) {
            throw new IOException("the " + codec.kind() + " of another key");
        }
        return Optional.of(usable.kept().value());
    }

    private static StoreKey key(CheckedJson json) throws IOException {
        json.expect("key").beginObject();
        String model = json.expect("model").nextString();
        ImmutableMap.Builder<String, String> facts = ImmutableMap.builder();
        int count = 0;
        json.expect("facts").beginObject();
        while (json.hasNext()) {
            if (count == MOST_FACTS) {
                throw new IOException("more than " + count + " facts");
            }
            facts.put(json.nextName(), json.nextString());
            count++;
        }
        json.endObject();
        json.endObject();
        return new StoreKey(model, facts.buildOrThrow());
    }
}
