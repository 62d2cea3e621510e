package org.djlplan.memplan.internal.store;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.Reader;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads JSON part by part, in the order of writing, and rejects parts that are longer than allowed.
 * Nothing recurses. All methods throw {@link IOException} or {@link IllegalStateException} if the
 * next part is something else.
 */
public final class CheckedJson {

    private final JsonReader json;

    CheckedJson(Reader text) {
        json = new JsonReader(text);
    }

    /** Reads one element of an array. */
    @FunctionalInterface
    public interface Element<E> {
        /** Reads the next value. */
        E read() throws IOException;
    }

    /** Reads the beginning of an object. */
    public void beginObject() throws IOException {
        json.beginObject();
    }

    /** Reads the end of an object. */
    public void endObject() throws IOException {
        json.endObject();
    }

    /** Returns whether the object has another part. */
    public boolean hasNext() throws IOException {
        return json.hasNext();
    }

    /** Reads the name of a part. */
    public String nextName() throws IOException {
        return json.nextName();
    }

    /** Reads a name, which must be this one. */
    public CheckedJson expect(String name) throws IOException {
        String found = json.nextName();
        if (!found.equals(name)) {
            throw new IOException(found + " in place of " + name);
        }
        return this;
    }

    /** Reads a text. */
    public String nextString() throws IOException {
        return json.nextString();
    }

    /** Reads a whole number. */
    public long nextLong() throws IOException {
        return json.nextLong();
    }

    /** Reads a whole number. */
    public int nextInt() throws IOException {
        return json.nextInt();
    }

    /** Reads a truth value. */
    public boolean nextBoolean() throws IOException {
        return json.nextBoolean();
    }

    /** Reads an array with at most this many elements. */
    public <E> ImmutableList<E> list(int most, Element<E> element) throws IOException {
        ImmutableList.Builder<E> elements = ImmutableList.builder();
        int count = 0;
        json.beginArray();
        while (hasRoom(count, most)) {
            elements.add(element.read());
            count++;
        }
        json.endArray();
        return elements.build();
    }

    /** Reads an array of at most this many integers. */
    public ImmutableLongArray numbers(int most) throws IOException {
        ImmutableLongArray.Builder numbers = ImmutableLongArray.builder();
        int count = 0;
        json.beginArray();
        while (hasRoom(count, most)) {
            numbers.add(json.nextLong());
            count++;
        }
        json.endArray();
        return numbers.build();
    }

    private boolean hasRoom(int count, int most) throws IOException {
        if (!json.hasNext()) {
            return false;
        }
        if (count == most) {
            throw new IOException("more than " + count + " entries");
        }
        return true;
    }

    /** Checks that nothing follows. */
    void end() throws IOException {
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw new IOException("something follows the end");
        }
    }
}
