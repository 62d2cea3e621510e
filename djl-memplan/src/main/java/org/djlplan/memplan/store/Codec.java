package org.djlplan.memplan.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/**
 * Writes values of one kind as JSON and reads them again. A file may contain anything: whatever
 * these methods throw while reading means that it is damaged.
 *
 * @param <T> the kind of value; two that are written alike are the same
 */
public interface Codec<T> {

    /** Returns the name of the kind, such as {@code plan}: for people, and as the part's name. */
    String kind();

    /**
     * Returns the version of the format; files of others are left alone until they are replaced.
     */
    int version();

    /** Returns what the names of this kind's files end with, different from that of other kinds. */
    String ending();

    /**
     * Writes one JSON value.
     *
     * @throws IllegalArgumentException if the value is larger than one that would be read
     */
    void write(JsonWriter json, T value) throws IOException;

    /**
     * Reads what {@link #write} wrote, without keeping more than the largest value needs.
     *
     * @throws IOException if it is damaged or invalid
     * @throws RuntimeException if a part is of the wrong kind or size: thrown by the parser, or by
     *     the record that refuses it
     */
    T read(CheckedJson json) throws IOException;

    /**
     * Checks a value of which the checksum was right as if there were none: whoever can write can
     * make one.
     *
     * @throws IOException if it must not be used
     */
    void check(T value) throws IOException;
}
