package org.djlplan.memplan.internal.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/**
 * Writes values of one kind as JSON and reads them. A file may contain anything, so any exception
 * while reading means that the file is damaged.
 *
 * @param <T> the kind of value; two values with the same text are equal
 */
public interface Codec<T> {

    /**
     * Returns the name of the kind, such as {@code plan}, for people and as the name of the JSON
     * part.
     */
    String kind();

    /**
     * Returns the version of the format; files of other versions are ignored until they are
     * replaced.
     */
    int version();

    /** Returns the ending of file names of this kind, which differs between kinds. */
    String ending();

    /**
     * Writes one JSON value.
     *
     * @throws IllegalArgumentException if the value exceeds the limits for reading
     */
    void write(JsonWriter json, T value) throws IOException;

    /**
     * Reads a value written by {@link #write}, using no more memory than the largest value needs.
     *
     * @throws IOException if the file is damaged or invalid
     * @throws RuntimeException if a part has the wrong type or size: thrown by the parser, or by
     *     the record's constructor
     */
    T read(CheckedJson json) throws IOException;

    /**
     * Checks a value even if its checksum is right, because anybody with write access can compute a
     * checksum.
     *
     * @throws IOException if it must not be used
     */
    void check(T value) throws IOException;
}
