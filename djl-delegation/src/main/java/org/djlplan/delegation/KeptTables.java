package org.djlplan.delegation;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.delegation.store.ProfileStore;
import org.djlplan.delegation.store.Wanted;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.store.FileIdentity;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;

/**
 * The tables that are kept for one request: in the folder or archive that it says to read first,
 * and next to the model. A table that measuring for this request cannot have made is rejected.
 */
final class KeptTables {

    private final Request request;

    /** The model's file as it was loaded. */
    private final FileIdentity loaded;

    private final Supplier<StoreKey> key = Suppliers.memoize(this::computeKey);

    /** Knows the delegate's partitions once a table turned out to be of others. */
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

    /** Returns what is asked of a table, as far as it was known at the beginning. */
    Wanted wanted() {
        return wanted;
    }

    /**
     * Returns what a table depends on. The model's file is read for it.
     *
     * @throws UncheckedIOException if it cannot be read, or was changed since it was loaded
     */
    StoreKey key() {
        return key.get();
    }

    /**
     * Returns the table that is kept next to the model, if there is one. The model's file is not
     * read if there is no table of any key.
     *
     * @throws UncheckedIOException as {@link #key}
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
     * @throws IOException if there is no such thing, or it cannot be read
     */
    Optional<ProfileTable> in(Path location) throws IOException {
        return ProfileStore.elsewhere(location, request.model(), wanted).load(key());
    }

    /**
     * Keeps a table next to the model.
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
     * @throws IOException if the folder does not exist or cannot be written
     */
    void copyTo(Path folder, ProfileTable table) throws IOException {
        beside.copyTo(folder, key(), table);
    }

    /** Tries to be the only one, of all JVMs of this machine, that makes the table. */
    Optional<StoreLock> tryLock() {
        return beside.tryLock(key());
    }

    /**
     * Asks the delegate in this process whether a table is of its partitions. If not, no such table
     * is believed from now on.
     *
     * <p>A delegate that runs only where it was tried is asked if the table chose it: then it runs
     * here already.
     *
     * @throws CandidateException if the delegate cannot look at the model now
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
     * Removes what is next to the model, unless it is believed: another JVM may have replaced it.
     */
    void removeRejected() {
        if (besideModel().isEmpty()) {
            beside.remove(key());
            beside.remove(ProfileStore.withCores(key()));
        }
    }
}
