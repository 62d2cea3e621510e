package org.djlplan.delegation.internal;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.delegation.internal.store.Wanted;
import org.djlplan.delegation.internal.table.ProfileTable;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.spi.CandidateException;

/**
 * The stored tables for one request: in the folder or archive that is read first, and next to the
 * model. A table that this request could not have produced is rejected.
 */
final class KeptTables {

    private final Request request;

    /** The identity of the model's file when it was loaded. */
    private final FileIdentity loaded;

    private final Supplier<StoreKey> key = Suppliers.memoize(this::computeKey);

    /** Has the delegate's partitions once a table did not match them. */
    private volatile Wanted wanted;

    private volatile FolderStore<ProfileTable> beside;

    /**
     * @throws IOException if the model has no file
     */
    KeptTables(Request request) throws IOException {
        this.request = request;
        loaded = FileIdentity.of(request.model().file());
        wanted =
                new Wanted(
                                request.model().graph(),
                                request.threads(),
                                request.goal(),
                                request.tolerance(),
                                Optional.empty())
                        .withTransientBuffers(request.model().offersTransientBuffers())
                        .without(request.excluded());
        beside = ProfileStore.of(request.model(), wanted);
    }

    private StoreKey computeKey() {
        try {
            StoreKey computed =
                    ProfileStore.key(
                            request.model(),
                            request.goal(),
                            request.threads(),
                            request.tolerance());
            requireUnchanged();
            return computed;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * @throws IOException if the model's file is not the one that was loaded
     */
    private void requireUnchanged() throws IOException {
        Path file = request.model().file();
        if (!FileIdentity.of(file).equals(loaded)) {
            throw new IOException(file + " was changed since it was loaded");
        }
    }

    /** Returns the request that tables must match, as known at the beginning. */
    Wanted wanted() {
        return wanted;
    }

    /**
     * Returns the key of a table. Reads the model's file.
     *
     * @throws UncheckedIOException if it cannot be read, or was changed since it was loaded
     */
    StoreKey key() {
        return key.get();
    }

    /**
     * Returns the table stored next to the model, if there is one. The model's file is not read if
     * there is no table for any key.
     *
     * @throws UncheckedIOException as in {@link #key}
     */
    Optional<ProfileTable> besideModel() {
        if (!beside.hasAny(ProfileStore.nameOf(request.model().file()))) {
            return Optional.empty();
        }
        Optional<ProfileTable> table = beside.load(key());
        StoreKey earlierKey = ProfileStore.withCores(key());
        return table.isPresent() || earlierKey.equals(key()) ? table : beside.load(earlierKey);
    }

    /**
     * Returns the table of a folder or an archive, if it has one.
     *
     * @throws IOException if the folder or archive does not exist or cannot be read
     */
    Optional<ProfileTable> in(Path location) throws IOException {
        return ProfileStore.elsewhere(location, request.model(), wanted).load(key());
    }

    /**
     * Stores a table next to the model.
     *
     * @throws UncheckedIOException if the model was changed while it was measured
     */
    void keep(ProfileTable table) {
        try {
            requireUnchanged();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        beside.save(key(), table);
    }

    /**
     * Writes a table into a folder, in which {@link #in} finds it.
     *
     * @throws IOException if the folder does not exist or is not writable
     */
    void copyTo(Path folder, ProfileTable table) throws IOException {
        beside.copyTo(folder, key(), table);
    }

    /** Tries to become the only JVM of this machine that makes the table. */
    Optional<StoreLock> tryLock() {
        return beside.tryLock(key());
    }

    /**
     * Asks the delegate in this process whether a table matches its partitions. If not, no such
     * table is accepted from now on.
     *
     * <p>A custom delegate is asked only if the table chose it, because it then runs in this
     * process already.
     *
     * @throws CandidateException if the delegate cannot inspect the model now
     */
    boolean confirms(ProfileTable table) throws CandidateException {
        if (!request.model().trusted() && !table.chosen().delegates()) {
            return true;
        }
        Wanted known = wanted.of(request.model().partitions());
        if (known.admits(table)) {
            return true;
        }
        wanted = known;
        beside = ProfileStore.of(request.model(), known);
        return false;
    }

    /**
     * Removes the table next to the model if it is not acceptable; another JVM may have replaced
     * it.
     */
    void removeRejected() {
        if (besideModel().isEmpty()) {
            beside.remove(key());
            beside.remove(ProfileStore.withCores(key()));
        }
    }
}
