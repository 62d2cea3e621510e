package org.djlplan.memplan.store;

import com.google.common.base.Ticker;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.memplan.spi.SharedStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values of one kind in a store that several machines share, in the same form as in files beside
 * models, and believed no more than those.
 *
 * @param <T> the kind of value
 */
public final class SharedValues<T> {

    private static final Logger logger = LoggerFactory.getLogger(SharedValues.class);

    /** What was told to be of no use, by store and name of its entry. */
    private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

    private final SharedStore store;
    private final Codec<T> codec;
    private final StoredFile<T> format;

    public SharedValues(SharedStore store, Codec<T> codec) {
        this.store = store;
        this.codec = codec;
        format = new StoredFile<>(codec);
    }

    /**
     * Returns the value of a key, if it is intact; one that is not is told once.
     *
     * @throws IOException if the store does not tell
     */
    public Optional<T> load(StoreKey key) throws IOException {
        String name = format.sharedNameOf(key);
        Optional<byte[]> content = store.get(name);
        if (content.isEmpty()) {
            return Optional.empty();
        }
        try {
            return format.read(key, new ByteArrayInputStream(content.get()));
        } catch (IOException | RuntimeException e) {
            if (REPORTED.add(store + "/" + name)) {
                logger.warn(
                        "The {} of {} in {} is of no use ({})",
                        codec.kind(),
                        key.model(),
                        store,
                        FolderStore.reason(e));
            }
            return Optional.empty();
        }
    }

    /**
     * Keeps a value; one of an equal key is replaced.
     *
     * @throws IOException if the store does not take it
     */
    public void save(StoreKey key, T value) throws IOException {
        store.put(format.sharedNameOf(key), format.toBytes(key, value));
    }

    /**
     * Keeps a value if there is no entry of an equal key, usable or not.
     *
     * @return whether there was none
     * @throws IOException if the store does not take it
     */
    public boolean offer(StoreKey key, T value) throws IOException {
        return store.putIfAbsent(format.sharedNameOf(key), format.toBytes(key, value));
    }

    /** Returns the lease of whoever makes the value of a key. */
    public Lease.Wanted lease(StoreKey key, Lease.Terms terms, Ticker ticker) {
        return new Lease.Wanted(store, format.sharedNameOf(key), terms, ticker);
    }
}
