package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.collect.ImmutableSortedSet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.delegation.Measurement.Profiling;
import org.djlplan.delegation.store.ProfileStore;
import org.djlplan.delegation.store.SampleTables;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.memplan.store.Lease;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Machines, each with a copy of the model, that share a store. */
@Timeout(60)
class SharedChoiceTest extends ProviderFixture {

    private static final Profiling NEVER = (request, runner, progress, verified) -> fail();

    private final Shared store = new Shared();
    private int machines;

    /** A store in memory that can be made to fail. */
    private static final class Shared implements SharedStore {

        enum Trouble {
            NONE,
            DEAD,
            READ_ONLY,
            HANGS
        }

        private final Map<String, byte[]> entries = new ConcurrentHashMap<>();
        private final CountDownLatch go = new CountDownLatch(1);
        private volatile Trouble trouble = Trouble.NONE;

        private void work(boolean write) throws IOException {
            if (trouble == Trouble.HANGS) {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            if (trouble == Trouble.DEAD || (write && trouble == Trouble.READ_ONLY)) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public Optional<byte[]> get(String name) throws IOException {
            work(false);
            return Optional.ofNullable(entries.get(name));
        }

        @Override
        public void put(String name, byte[] content) throws IOException {
            work(true);
            entries.put(name, content);
        }

        @Override
        public boolean putIfAbsent(String name, byte[] content) throws IOException {
            work(true);
            return entries.putIfAbsent(name, content) == null;
        }

        private String table() {
            return entries.keySet().stream()
                    .filter(name -> name.endsWith(".json"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @BeforeEach
    void share() {
        model.store = Optional.of(store);
    }

    /** The next model is on another machine. */
    private void nextMachine() {
        machines++;
        model = new FakeModel(folder.resolve("machine" + machines));
        model.store = Optional.of(store);
    }

    private DelegationChoice first(Profiling profiling, String mode) {
        try (Choosing choosing = choose(profiling, mode)) {
            return choosing.first();
        }
    }

    private Optional<ProfileTable> besideModel() throws IOException {
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        return ProfileStore.of(model)
                .load(ProfileStore.key(model, goal, List.of(2), Tolerance.AUTO));
    }

    @Test
    void choose_measuredByAnotherMachine_isUsedAtOnceAndKept() throws Exception {
        assertEquals(
                chosen(Origin.MEASURED),
                first((request, runner, progress, verified) -> TABLE, "blocking"));
        for (String mode : List.of("blocking", "background", "off")) {
            nextMachine();
            Choosing choosing = choose(NEVER, mode);
            assertEquals(chosen(Origin.STORED), choosing.first());
            afterwards();
            assertEquals(Optional.of(TABLE), besideModel(), "for when the store is dead");
            assertNull(better.poll());
        }
        assertEquals(1, profiles.get());
    }

    @Test
    void choose_otherHardware_measuresItsOwn() {
        first((request, runner, progress, verified) -> TABLE, "blocking");
        nextMachine();
        model.facts = Map.of("engine", "TFLite 2.6.2", "delegate", "xnnpack", "npu", "yes");
        first((request, runner, progress, verified) -> TABLE, "blocking");
        assertEquals(2, profiles.get());
    }

    @Test
    void choose_whileAnotherMeasures_waitsForItsTable() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Thread first =
                new Thread(
                        () ->
                                first(
                                        (request, runner, progress, verified) -> {
                                            begun.countDown();
                                            go.await();
                                            return TABLE;
                                        },
                                        "blocking"));
        first.start();
        begun.await();
        nextMachine();
        Choosing choosing = choose(NEVER);
        assertEquals(CPU, choosing.first().candidate());
        // It has looked, and looks again some seconds later.
        Await.until(() -> store.entries.size() == 1);
        Thread.sleep(100);
        go.countDown();
        first.join();
        assertEquals(chosen(Origin.STORED), nextBetter());
        assertEquals(1, profiles.get());
        choosing.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Shared.Trouble.class,
            names = {"DEAD", "READ_ONLY"})
    void choose_storeFails_nobodyMeasuresAndNothingWaits(Shared.Trouble trouble) throws Exception {
        store.trouble = trouble;
        try (Choosing choosing = choose(NEVER)) {
            assertEquals(CPU, choosing.first().candidate());
            afterwards();
            assertNull(better.poll());
        }
        DelegationChoice awaited = first(NEVER, "blocking");
        assertEquals(CPU, awaited.candidate());
        assertTrue(awaited.reason().contains("does not work"), awaited.reason());
    }

    /** In the middle of a job: it serves here, and others get it when the store works again. */
    @ParameterizedTest
    @EnumSource(
            value = Shared.Trouble.class,
            names = {"DEAD", "READ_ONLY", "HANGS"})
    void choose_storeFailsMeanwhile_servesHereAndIsPublishedLater(Shared.Trouble trouble)
            throws Exception {
        try (Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            store.trouble = trouble;
                            return TABLE;
                        })) {
            assertEquals(CPU, choosing.first().candidate());
            assertEquals(chosen(Origin.MEASURED), nextBetter());
            List<String> told =
                    log.lines("WARN").stream().filter(line -> line.contains("not work")).toList();
            assertEquals(1, told.size(), told::toString);
            store.trouble = Shared.Trouble.NONE;
            store.go.countDown();
            Await.until(
                    () -> store.entries.keySet().stream().anyMatch(name -> name.endsWith(".json")));
        }
        nextMachine();
        assertEquals(chosen(Origin.STORED), first(NEVER, "blocking"));
        assertEquals(1, profiles.get());
    }

    @Test
    void choose_storeFailsLater_whatWasVerifiedServes() throws Exception {
        first((request, runner, progress, verified) -> TABLE, "blocking");
        store.trouble = Shared.Trouble.DEAD;
        assertEquals(chosen(Origin.STORED), first(NEVER, "background"));
    }

    @Test
    void choose_storeHangs_aLoadWaitsOnceAndNotLong() throws Exception {
        store.trouble = Shared.Trouble.HANGS;
        long start = System.nanoTime();
        assertEquals(CPU, first(NEVER, "off").candidate());
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3));
        start = System.nanoTime();
        assertEquals(CPU, first(NEVER, "off").candidate());
        assertTrue(System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(400));
        store.trouble = Shared.Trouble.NONE;
        store.go.countDown();
        assertEquals(
                Origin.MEASURED,
                first((request, runner, progress, verified) -> TABLE, "blocking").origin());
    }

    /** Half written, or anything: as a file that comes with a model. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 500})
    void choose_damagedEntry_isMeasuredAnewAndReplaced(int length) {
        first((request, runner, progress, verified) -> TABLE, "blocking");
        byte[] whole = store.entries.get(store.table());
        store.entries.put(store.table(), Arrays.copyOf(whole, length));
        nextMachine();
        DelegationChoice choice = first((request, runner, progress, verified) -> TABLE, "blocking");
        assertEquals(chosen(Origin.MEASURED), choice);
        nextMachine();
        assertEquals(chosen(Origin.STORED), first(NEVER, "blocking"));
    }

    /** A right checksum, but of partitions that the delegate does not report. */
    @Test
    void choose_forgedEntry_isGivenUpWhenTheDelegateWasAsked() throws Exception {
        first((request, runner, progress, verified) -> TABLE, "blocking");
        nextMachine();
        model.reported = List.of(ImmutableSortedSet.of(0, 1), ImmutableSortedSet.of(5, 6));
        ProfileTable right = SampleTables.cpu(model.reported);
        Choosing choosing = choose((request, runner, progress, verified) -> right);
        assertEquals(CPU, nextBetter().candidate());
        DelegationChoice measured = nextBetter();
        assertEquals(Origin.MEASURED, measured.origin());
        assertEquals(right.chosen(), measured.candidate());
        choosing.close();
        nextMachine();
        model.reported = List.of(ImmutableSortedSet.of(0, 1), ImmutableSortedSet.of(5, 6));
        assertEquals(right.reason(), first(NEVER, "blocking").reason(), "it was replaced");
    }

    @Test
    void choose_cannotMeasureHere_usesWhatOthersMeasure() throws Exception {
        model.obstacle = Optional.of("no program java");
        Choosing choosing = choose(NEVER);
        assertEquals(CPU, choosing.first().candidate());
        afterwards();
        FakeModel waiting = model;
        nextMachine();
        first((request, runner, progress, verified) -> TABLE, "blocking");
        assertEquals(chosen(Origin.STORED), nextBetter());
        assertEquals(0, waiting.startedProcesses.get());
        choosing.close();
    }

    @Test
    void choose_measuringFails_isForAnotherMachine() throws Exception {
        DelegationChoice choice =
                first(
                        (request, runner, progress, verified) -> {
                            throw new IllegalStateException("broken");
                        },
                        "blocking");
        assertEquals(CPU, choice.candidate());
        Await.until(
                () ->
                        store.entries.values().stream()
                                .anyMatch(
                                        entry ->
                                                new String(entry, StandardCharsets.US_ASCII)
                                                        .equals("free\n")));
        nextMachine();
        assertEquals(
                Origin.MEASURED,
                first((request, runner, progress, verified) -> TABLE, "blocking").origin());
    }

    @Test
    void choose_pinned_takesWhatTheStoreHasOrFails() {
        Map<String, String> pinned = Map.of("delegation.onMissing", "fail");
        store.trouble = Shared.Trouble.DEAD;
        assertThrows(
                UnusableOptionException.class,
                () -> provider(NEVER).choose(model, pinned, Optional.empty(), better::add));
        store.trouble = Shared.Trouble.NONE;
        first((request, runner, progress, verified) -> TABLE, "blocking");
        nextMachine();
        assertEquals(
                TABLE.chosen(),
                provider(NEVER)
                        .choose(model, pinned, Optional.empty(), better::add)
                        .first()
                        .candidate());
    }

    @Test
    void leaseKeeper_leaseLost_interruptsWhoMeasures() throws Exception {
        Lease.Terms terms =
                new Lease.Terms(Duration.ofMillis(5), Duration.ofSeconds(2), Duration.ofDays(1));
        Lease lease =
                new Lease.Wanted(store, "net", terms, Ticker.systemTicker())
                        .tryAcquire()
                        .orElseThrow();
        LeaseKeeper keeper = new LeaseKeeper(lease);
        Thread.sleep(100);
        assertTrue(lease.isHeld(), "it is renewed");
        store.trouble = Shared.Trouble.DEAD;
        assertThrows(InterruptedException.class, () -> Thread.sleep(20_000));
        assertTrue(keeper.stop());
        assertFalse(Thread.interrupted());
    }
}
