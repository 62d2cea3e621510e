package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.djlplan.memplan.spi.SharedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that hangs, throws anything, or works. */
@Timeout(60)
class TimedStoreTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void letGo() throws IOException {
        go.countDown();
        assertEquals(
                Optional.empty(), new TimedStore(of(() -> {}), Duration.ofSeconds(20)).get("any"));
        assertFalse(TimedStore.hangs());
    }

    private static SharedStore of(Runnable work) {
        return new SharedStore() {
            @Override
            public Optional<byte[]> get(String name) {
                work.run();
                return Optional.empty();
            }

            @Override
            public void put(String name, byte[] content) {
                work.run();
            }

            @Override
            public boolean putIfAbsent(String name, byte[] content) {
                work.run();
                return true;
            }
        };
    }

    /** As a mount that does not even answer to an interruption. */
    private void hang() {
        Uninterruptibles.awaitUninterruptibly(go);
    }

    @Test
    void all_storeThatHangs_failInTimeHoweverMany() {
        TimedStore store = new TimedStore(of(this::hang), SHORT);
        assertFalse(TimedStore.hangs());
        for (int i = 0; i < 20; i++) {
            assertThrows(IOException.class, () -> store.get("any"));
            assertTrue(TimedStore.hangs());
        }
        assertThrows(IOException.class, () -> store.put("any", new byte[0]));
        assertThrows(IOException.class, () -> store.putIfAbsent("any", new byte[0]));
        long threads =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().equals("djl-plan-shared-store"))
                        .count();
        assertTrue(threads <= 4, threads + " threads");
    }

    @Test
    void all_storeThatThrowsAnything_failWithItsMessage() {
        TimedStore store =
                new TimedStore(
                        of(
                                () -> {
                                    throw new NoClassDefFoundError("org/apache/hadoop");
                                }),
                        Duration.ofSeconds(20));
        IOException error = assertThrows(IOException.class, () -> store.get("any"));
        assertTrue(error.getMessage().contains("org/apache/hadoop"), error::toString);
    }

    @Test
    void get_interrupted_failsAndStaysInterrupted() {
        TimedStore store = new TimedStore(of(this::hang), Duration.ofSeconds(20));
        Thread.currentThread().interrupt();
        assertThrows(IOException.class, () -> store.get("any"));
        assertTrue(Thread.interrupted());
    }
}
