package org.djlplan.memplan.spi;

import java.io.IOException;
import java.util.Optional;

/**
 * A place that the JVMs of a fleet share, for what one of them measured and all of them use: a
 * folder on a network mount, an object store, a Hadoop file system. Given as {@code memplan.store},
 * by {@code PlannedTranslatorFactory.with}, or by the name of a class with a public constructor
 * without parameters.
 *
 * <p>An implementation promises:
 *
 * <ul>
 *   <li>An entry appears and changes as a whole: whoever reads one gets nothing, or all that one
 *       writer wrote, also while others write and when a writer dies.
 *   <li>Of several that put an absent entry at once, by {@link #putIfAbsent}, at most one succeeds.
 *       To look whether there is one, and then to write or rename, does not do: an object store
 *       needs a PUT with {@code If-None-Match: *}, and a server that looks and writes in one step
 *       then. One that cannot do this throws there; then what it has is used, and nothing is
 *       measured for it.
 *   <li>Whoever reads after a write has returned gets what it wrote, or something newer.
 * </ul>
 *
 * <p>It need not be fast or always there, list or remove anything, or have a clock. Its methods are
 * called by several threads at once, never by one that loads a model or predicts. A call that takes
 * more than 5 s is interrupted, and its result not waited for; what it was to write may still be
 * written later. Four run at most, so a client that no interrupt ends has a time-out of its own.
 * Whatever a call throws, checked or not, means that it did not work; it does not repeat {@link
 * #putIfAbsent} by itself, as the second answer would be no if only the first one was lost. What it
 * returns is believed no more than a file that comes with a model.
 *
 * <p>Names have at most 120 of the characters {@code a-zA-Z0-9._-}. Entries are a few kilobytes.
 */
public interface SharedStore {

    /** No entry has more bytes. */
    int MOST_BYTES = 16 << 20;

    /**
     * Returns an entry, or empty if there is none.
     *
     * @throws IOException if that cannot be told, or it has more than {@link #MOST_BYTES}
     */
    Optional<byte[]> get(String name) throws IOException;

    /**
     * Makes or replaces an entry.
     *
     * @throws IOException if it cannot be written, or it is not known whether it was
     */
    void put(String name, byte[] content) throws IOException;

    /**
     * Makes an entry unless there is one.
     *
     * @return whether this call made it
     * @throws IOException if it cannot be written, or it is not known whether it was
     */
    boolean putIfAbsent(String name, byte[] content) throws IOException;
}
