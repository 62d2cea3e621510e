package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.djlplan.memplan.spi.SharedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaseTest {

    private static final Lease.Terms TERMS = Lease.Terms.DEFAULT;

    private final Clock clock = new Clock();
    private final Entries store = new Entries();

    private static final class Clock extends Ticker {
        private long nanos = -5;

        void pass(Duration time) {
            nanos += time.toNanos();
        }

        @Override
        public long read() {
            return nanos;
        }
    }

    private static final class Entries implements SharedStore {
        private final Map<String, byte[]> entries = new HashMap<>();
        private boolean dead;

        private void work() throws IOException {
            if (dead) {
                throw new IOException("dead");
            }
        }

        @Override
        public Optional<byte[]> get(String name) throws IOException {
            work();
            return Optional.ofNullable(entries.get(name));
        }

        @Override
        public void put(String name, byte[] content) throws IOException {
            work();
            entries.put(name, content);
        }

        @Override
        public boolean putIfAbsent(String name, byte[] content) throws IOException {
            work();
            return entries.putIfAbsent(name, content) == null;
        }
    }

    private Lease.Wanted machine() {
        return new Lease.Wanted(store, "net", TERMS, clock);
    }

    @Test
    void tryAcquire_free_isHeldUntilItsTimeIsOver() throws IOException {
        Lease lease = machine().tryAcquire().orElseThrow();
        clock.pass(TERMS.hold().minusNanos(1));
        assertTrue(lease.isHeld());
        clock.pass(Duration.ofNanos(1));
        assertFalse(lease.isHeld());
        lease.renew();
        assertFalse(lease.isHeld(), "what is lost stays lost");
    }

    @Test
    void renew_inTime_keepsOthersOutForGood() throws IOException {
        Lease lease = machine().tryAcquire().orElseThrow();
        Lease.Wanted other = machine();
        for (int i = 0; i < 100; i++) {
            clock.pass(lease.renewEvery());
            lease.renew();
            assertTrue(lease.isHeld());
            assertEquals(Optional.empty(), other.tryAcquire());
        }
    }

    @Test
    void tryAcquire_holderDied_isHadOnlyAfterItWasSeenUnchangedForLong() throws IOException {
        Lease dead = machine().tryAcquire().orElseThrow();
        clock.pass(Duration.ofHours(1));
        Lease.Wanted other = machine();
        assertEquals(Optional.empty(), other.tryAcquire(), "seen for the first time");
        clock.pass(TERMS.lapse().minusNanos(1));
        assertEquals(Optional.empty(), other.tryAcquire());
        clock.pass(Duration.ofNanos(1));
        Lease taken = other.tryAcquire().orElseThrow();
        assertTrue(taken.isHeld());
        assertFalse(dead.isHeld());
        assertEquals(Optional.empty(), machine().tryAcquire(), "one that comes later sees it");
    }

    /** It had long stopped by then. */
    @Test
    void renew_takenOverMeanwhile_changesNothing() throws IOException {
        Lease paused = machine().tryAcquire().orElseThrow();
        Lease.Wanted other = machine();
        assertEquals(Optional.empty(), other.tryAcquire());
        clock.pass(TERMS.lapse());
        Lease taken = other.tryAcquire().orElseThrow();
        paused.renew();
        assertFalse(paused.isHeld());
        paused.release();
        assertTrue(taken.isHeld());
        assertEquals(Optional.empty(), machine().tryAcquire());
    }

    @Test
    void release_heldBefore_isFreeAtOnce() throws IOException {
        Lease lease = machine().tryAcquire().orElseThrow();
        lease.release();
        assertFalse(lease.isHeld());
        Lease next = machine().tryAcquire().orElseThrow();
        lease.release();
        assertTrue(next.isHeld());
        assertEquals(Optional.empty(), machine().tryAcquire());
    }

    @Test
    void storeDead_whileHeld_isHeldUntilItsTimeIsOver() throws IOException {
        Lease lease = machine().tryAcquire().orElseThrow();
        store.dead = true;
        clock.pass(TERMS.renew());
        assertThrows(IOException.class, lease::renew);
        assertTrue(lease.isHeld());
        assertThrows(IOException.class, () -> machine().tryAcquire());
        clock.pass(TERMS.hold());
        assertFalse(lease.isHeld());
    }

    /** Its holder could not renew it while the store was dead. */
    @Test
    void forget_storeWasDead_waitsAnew() throws IOException {
        Lease lease = machine().tryAcquire().orElseThrow();
        Lease.Wanted other = machine();
        assertEquals(Optional.empty(), other.tryAcquire());
        clock.pass(TERMS.lapse());
        other.forget();
        assertEquals(Optional.empty(), other.tryAcquire());
        assertFalse(lease.isHeld());
    }

    /** What was written for a machine that had given it up looks like its next lease. */
    @Test
    void tryAcquire_holderOfAGhostTookTheNext_waitsForThatToLapse() throws IOException {
        Lease.Wanted holder = machine();
        Lease.Wanted other = machine();
        assertTrue(holder.tryAcquire().isPresent());
        assertTrue(holder.tryAcquire().isEmpty());
        assertTrue(other.tryAcquire().isEmpty());
        clock.pass(TERMS.lapse());

        assertTrue(holder.tryAcquire().isPresent());

        assertTrue(other.tryAcquire().isEmpty());
        clock.pass(TERMS.lapse());
        assertTrue(other.tryAcquire().isPresent());
    }

    /** Whatever an entry says, the worst is that nobody measures. */
    @Test
    void tryAcquire_forgedEntries_keepOutAndNoMore() throws IOException {
        for (byte[] forged : List.of(new byte[0], new byte[1 << 20], new byte[] {-1, 0, '\n'})) {
            store.entries.put("net.lease.1", forged);
            assertEquals(Optional.empty(), machine().tryAcquire());
        }
        byte[] free = "free\n".getBytes(StandardCharsets.US_ASCII);
        for (int i = 1; i <= Lease.Wanted.MOST_HOLDERS; i++) {
            store.entries.put("net.lease." + i, free);
        }
        assertEquals(Optional.empty(), machine().tryAcquire());
    }

    /** In a real folder, on real threads, which all begin at once. */
    @Test
    void tryAcquire_manyAtOnce_oneHasIt(@TempDir Path folder) throws Exception {
        int machines = 16;
        ExecutorService threads = Executors.newFixedThreadPool(machines);
        try {
            for (int round = 0; round < 20; round++) {
                String name = "net-0123456789abcdef.v3.profile.json." + round;
                CyclicBarrier start = new CyclicBarrier(machines);
                Callable<Optional<Lease>> machine =
                        () -> {
                            Lease.Wanted wanted =
                                    new Lease.Wanted(
                                            new SharedFolder(folder),
                                            name,
                                            TERMS,
                                            Ticker.systemTicker());
                            start.await();
                            return wanted.tryAcquire();
                        };
                List<Future<Optional<Lease>>> all =
                        threads.invokeAll(
                                IntStream.range(0, machines).mapToObj(i -> machine).toList());
                int held = 0;
                for (Future<Optional<Lease>> each : all) {
                    held += each.get().isPresent() ? 1 : 0;
                }
                assertEquals(1, held);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
