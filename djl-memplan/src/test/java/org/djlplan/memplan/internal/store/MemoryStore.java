package org.djlplan.memplan.internal.store;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/** A store in a map that counts the saves of each value. */
public final class MemoryStore<T> implements Store<T> {

    public final Semaphore saves = new Semaphore(0);

    /** Runs on the saving thread before each save. */
    public volatile Runnable beforeSave = () -> {};

    private final Map<StoreKey, T> values = new HashMap<>();

    @Override
    public synchronized Optional<T> load(StoreKey key) {
        return Optional.ofNullable(values.get(key));
    }

    @Override
    public void save(StoreKey key, T value) {
        beforeSave.run();
        synchronized (this) {
            values.put(key, value);
        }
        saves.release();
    }
}
