package org.djlplan.memplan.store;

import java.util.Optional;

/**
 * Keeps values of one kind between runs of a JVM. Never throws for what is wrong with a file, a
 * folder or a disk: that is reported in a warning, once, and the value is made anew.
 *
 * @param <T> the kind of value
 */
public interface Store<T> {

    /** Returns the value that was saved under an equal key, if it is intact. */
    Optional<T> load(StoreKey key);

    /** Keeps a value; one saved under an equal key before is replaced. */
    void save(StoreKey key, T value);
}
