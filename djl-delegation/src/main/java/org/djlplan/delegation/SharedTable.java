package org.djlplan.delegation;

import com.google.common.base.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.store.Lease;
import org.djlplan.memplan.store.SharedValues;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.TimedStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The table that all machines of the same kind use, as one of them sees it: it is in their store,
 * or somebody else makes it, or it is for this one to make. Once it is there it stays, so that a
 * job has the same from its first executor to its last.
 *
 * <p>Where the store fails, nobody makes it: that would be all of them.
 */
final class SharedTable {

    private static final Logger logger = LoggerFactory.getLogger(SharedTable.class);

    /** What was told of stores, once each. */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final Function<SharedStore, SharedValues<ProfileTable>> values;
    private final SharedStore store;
    private final StoreKey key;
    private final Pace pace;
    private final Ticker ticker;
    private final Random random;
    private final Lease.Wanted lease;

    private Optional<ProfileTable> unpublished = Optional.empty();
    private Duration pause;
    private long nextLookNanos;
    private boolean failing;

    /**
     * How often it is looked at.
     *
     * @param first pause between two looks; each is half as long again as the one before
     * @param longest of them
     * @param answer how long the store may take for one operation
     * @param terms on which one machine makes the table
     */
    record Pace(Duration first, Duration longest, Duration answer, Lease.Terms terms) {

        /** Begins with a pause; the rest is as always. */
        static Pace of(Duration first) {
            return new Pace(
                    first, Duration.ofSeconds(60), Duration.ofSeconds(5), Lease.Terms.DEFAULT);
        }
    }

    /**
     * @param values reads and writes tables, as they are believed at that moment
     */
    SharedTable(
            SharedStore store,
            Function<SharedStore, SharedValues<ProfileTable>> values,
            StoreKey key,
            Pace pace) {
        this(
                new TimedStore(store, pace.answer()),
                values,
                key,
                pace,
                Ticker.systemTicker(),
                new Random());
    }

    /**
     * @param store answers in time, or fails
     * @param random spreads the looks of many
     */
    SharedTable(
            SharedStore store,
            Function<SharedStore, SharedValues<ProfileTable>> values,
            StoreKey key,
            Pace pace,
            Ticker ticker,
            Random random) {
        this.store = store;
        this.values = values;
        this.key = key;
        this.pace = pace;
        this.ticker = ticker;
        this.random = random;
        pause = pace.first();
        nextLookNanos = ticker.read();
        lease = values.apply(store).lease(key, pace.terms(), ticker);
    }

    /** What there is to see. */
    sealed interface Look {

        /** The table, as the store has it. */
        record Found(ProfileTable table) implements Look {}

        /** It is to be made here, while the lease is held. */
        record Ours(Lease lease) implements Look {}

        /** Nothing, or it is not yet time to look again. */
        record Later() implements Look {}
    }

    /**
     * Looks at the store, unless it is too early. What could not be written before is written.
     *
     * @param able whether the table can be made here
     */
    synchronized Look look(boolean able) {
        if (ticker.read() - nextLookNanos < 0) {
            return new Look.Later();
        }
        try {
            if (unpublished.isPresent()) {
                return new Look.Found(agree(unpublished.get()));
            }
            Optional<ProfileTable> table = values.apply(store).load(key);
            Optional<Lease> ours = table.isEmpty() && able ? lease.tryAcquire() : Optional.empty();
            if (ours.isPresent()) {
                // Its last holder may have been done just before.
                table = values.apply(store).load(key);
            }
            failing = false;
            if (table.isPresent()) {
                ours.ifPresent(this::release);
                return new Look.Found(table.get());
            }
            if (ours.isPresent()) {
                return new Look.Ours(ours.get());
            }
        } catch (IOException e) {
            fail(e);
        }
        pause();
        return new Look.Later();
    }

    /**
     * Gives the others what was made here, and then the lease back; if the store does not take it,
     * {@link #look} tries again, and the lease is left to lapse: were it free, somebody would make
     * the same once more.
     *
     * @return what all use: another one if that was there before
     */
    synchronized ProfileTable publish(ProfileTable table, Lease held) {
        try {
            ProfileTable agreed = agree(table);
            release(held);
            return agreed;
        } catch (IOException e) {
            unpublished = Optional.of(table);
            fail(e);
            pause();
            return table;
        }
    }

    private void release(Lease held) {
        try {
            held.release();
        } catch (IOException e) {
            // It lapses.
            logger.debug("The lease is not released", e);
        }
    }

    private ProfileTable agree(ProfileTable table) throws IOException {
        SharedValues<ProfileTable> now = values.apply(store);
        ProfileTable agreed = table;
        if (!now.offer(key, table)) {
            Optional<ProfileTable> there = now.load(key);
            if (there.isPresent()) {
                agreed = there.get();
            } else {
                // What is there is of no use to anybody.
                now.save(key, table);
            }
        }
        unpublished = Optional.empty();
        failing = false;
        return agreed;
    }

    /**
     * Puts a table in the place of what is there, as somebody asked for it.
     *
     * @throws IOException if the store does not take it
     */
    void replace(ProfileTable table) throws IOException {
        values.apply(store).save(key, table);
    }

    /**
     * Returns the table if the store has it and says so soon. Nobody waits for a store that did not
     * answer when it was asked last.
     *
     * @param patience how long a load may wait for it
     */
    Optional<ProfileTable> atOnce(Duration patience) {
        if (TimedStore.hangs()) {
            return Optional.empty();
        }
        try {
            return values.apply(new TimedStore(store, patience)).load(key);
        } catch (IOException e) {
            logger.debug("{} is not asked while loading", store, e);
            return Optional.empty();
        }
    }

    /** Returns whether something made here is still to be written. */
    synchronized boolean isUnpublished() {
        return unpublished.isPresent();
    }

    /** Returns whether the store did not work when it was asked last. */
    synchronized boolean isFailing() {
        return failing;
    }

    /** Returns in how long it is worth while to look. */
    synchronized Duration untilNextLook() {
        return Duration.ofNanos(Math.max(0, nextLookNanos - ticker.read()));
    }

    private void fail(IOException e) {
        failing = true;
        lease.forget();
        if (Thread.currentThread().isInterrupted()) {
            return;
        }
        if (TOLD.add(store.toString())) {
            logger.warn(
                    "{} does not work, so nothing is measured that machines share: {}",
                    store,
                    e.toString());
        }
    }

    private void pause() {
        long nanos = pause.toNanos() / 4 * 3;
        nextLookNanos = ticker.read() + nanos + (long) (random.nextDouble() * pause.toNanos() / 2);
        Duration longer = pause.multipliedBy(3).dividedBy(2);
        pause = longer.compareTo(pace.longest()) < 0 ? longer : pace.longest();
    }

    @Override
    public String toString() {
        return store.toString();
    }
}
