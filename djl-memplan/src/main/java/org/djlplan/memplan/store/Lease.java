package org.djlplan.memplan.store;

import com.google.common.base.Ticker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import org.djlplan.memplan.spi.SharedStore;

/**
 * The right to be the only one, of all machines that share a store, that makes a value. It lapses
 * when its holder does not renew it.
 *
 * <p>No clocks are compared. A holder writes something else each time that it renews; whoever wants
 * the lease, and has seen the same for {@link Terms#lapse} by a clock of its own, takes over. Every
 * holder has an entry of its own, with the next number: it can be made once, so only one of those
 * that want to take over does, and a holder that was thought dead writes where nobody looks any
 * more. It stops by itself long before others take over, after {@link Terms#hold}.
 *
 * <p>What an entry says does not matter, and so none can be forged, but for the one that says that
 * it is free: whoever can write the store can keep others from measuring, or let several of them
 * do.
 */
public final class Lease {

    private static final byte[] FREE = "free\n".getBytes(StandardCharsets.US_ASCII);

    private final Wanted wanted;
    private final String entry;
    private int renewals;
    private long heldUntilNanos;
    private boolean released;

    private Lease(Wanted wanted, String entry, long heldUntilNanos) {
        this.wanted = wanted;
        this.entry = entry;
        this.heldUntilNanos = heldUntilNanos;
    }

    /**
     * How long things take, the same for all that share a store.
     *
     * @param renew how often a holder renews
     * @param hold how long it holds the lease after it began to renew
     * @param lapse how long others wait after they saw that
     */
    public record Terms(Duration renew, Duration hold, Duration lapse) {

        /** Longer than a client of NFS believes what it knows of a folder. */
        public static final Terms DEFAULT =
                new Terms(Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(90));
    }

    /** A lease that somebody in this JVM wants. Not for several threads at once. */
    public static final class Wanted {

        /** So many holders may have given up or died before nobody tries any more. */
        public static final int MOST_HOLDERS = 64;

        private final SharedStore store;
        private final String name;
        private final Terms terms;
        private final Ticker ticker;
        private final String holder = UUID.randomUUID().toString();
        private int number = 1;
        private byte[] seen = {};
        private long seenSinceNanos;

        /**
         * @param name of the lease, as the beginning of the names of its entries
         * @param ticker the clock that is believed
         */
        public Wanted(SharedStore store, String name, Terms terms, Ticker ticker) {
            this.store = store;
            this.name = name;
            this.terms = terms;
            this.ticker = ticker;
        }

        /**
         * Takes the lease if it is free. Whoever gets it should look again whether the value is
         * there by now.
         *
         * @return empty if another one has it, or may have it
         * @throws IOException if the store does not tell
         */
        public Optional<Lease> tryAcquire() throws IOException {
            for (; number <= MOST_HOLDERS; number++) {
                Optional<byte[]> found = store.get(entry(number));
                if (found.isEmpty()) {
                    return tryMake();
                }
                if (!isOver(found.get())) {
                    return Optional.empty();
                }
                // The next entry may begin with the same: whose write was given up may try again.
                forget();
            }
            return Optional.empty();
        }

        /**
         * Forgets how long the same was seen: where the store did not work, its holder could not
         * renew it either.
         */
        public void forget() {
            seen = new byte[0];
        }

        private boolean isOver(byte[] found) {
            if (Arrays.equals(found, FREE)) {
                return true;
            }
            long now = ticker.read();
            if (!Arrays.equals(found, seen)) {
                seen = found;
                seenSinceNanos = now;
            }
            return now - seenSinceNanos >= terms.lapse().toNanos();
        }

        private Optional<Lease> tryMake() throws IOException {
            long heldUntilNanos = ticker.read() + terms.hold().toNanos();
            if (!store.putIfAbsent(entry(number), record(0))) {
                return Optional.empty();
            }
            Lease lease = new Lease(this, entry(number), heldUntilNanos);
            if (number > 1) {
                try {
                    // So that those who come later need not wait until it lapses.
                    store.put(entry(number - 1), FREE);
                } catch (IOException e) {
                    // They wait.
                    return Optional.of(lease);
                }
            }
            return Optional.of(lease);
        }

        private String entry(int of) {
            return name + ".lease." + of;
        }

        private byte[] record(int renewals) {
            return (holder + ' ' + renewals + '\n').getBytes(StandardCharsets.US_ASCII);
        }
    }

    /** Returns how often to renew it. */
    public Duration renewEvery() {
        return wanted.terms.renew();
    }

    /** Returns whether nobody else can have it. */
    public synchronized boolean isHeld() {
        return !released && wanted.ticker.read() - heldUntilNanos < 0;
    }

    /**
     * Renews it, unless it is not held any more.
     *
     * @throws IOException if the store does not take it; it is held until its time is over
     */
    public void renew() throws IOException {
        int next;
        synchronized (this) {
            if (!isHeld()) {
                return;
            }
            renewals++;
            next = renewals;
        }
        long untilNanos = wanted.ticker.read() + wanted.terms.hold().toNanos();
        wanted.store.put(entry, wanted.record(next));
        synchronized (this) {
            // One that lapsed while it was written is another's.
            if (isHeld()) {
                heldUntilNanos = untilNanos;
            }
        }
    }

    /** Lets others have it at once. Does nothing the second time. */
    public void release() throws IOException {
        synchronized (this) {
            if (released) {
                return;
            }
            released = true;
        }
        wanted.store.put(entry, FREE);
    }
}
