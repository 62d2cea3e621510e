package org.djlplan.memplan.internal.store;

import java.util.Optional;

/**
 * Stores values of one kind across runs of the JVM. Faults of a file, a folder or a disk never
 * cause an exception: one warning reports them, and the value is made again.
 *
 * <p>The number of values per model is limited. Loading a value counts as use.
 *
 * @param <T> the kind of value
 */
public interface Store<T> {

    /** Returns the intact value that was saved under an equal key, if there is one. */
    Optional<T> load(StoreKey key);

    /**
     * Saves a value, replacing one that was saved under an equal key. If the model has too many
     * values, the least recently used one is removed.
     */
    void save(StoreKey key, T value);
}
