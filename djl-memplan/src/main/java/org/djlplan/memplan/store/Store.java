package org.djlplan.memplan.store;

import java.util.Optional;

/**
 * Keeps values of one kind between runs of a JVM. Never throws for what is wrong with a file, a
 * folder or a disk: that is reported in a warning, once, and the value is made anew.
 *
 * <p>Of each model only so many are kept. One that is loaded counts as used.
 *
 * @param <T> the kind of value
 */
public interface Store<T> {

    /** Returns the value that was saved under an equal key, if it is intact. */
    Optional<T> load(StoreKey key);

    /**
     * Keeps a value; one saved under an equal key before is replaced. If the model has too many,
     * the one goes that was not used for longest.
     */
    void save(StoreKey key, T value);

    /**
     * Keeps a value as {@link #save} does, but only if none has to go for it: for one of which
     * nobody knows yet whether it will be used again.
     */
    void offer(StoreKey key, T value);

    /** Waits until everything is written that was saved before, but not for long. */
    void flush();
}
