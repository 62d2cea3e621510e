package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.delegation.internal.Background.Patience;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.OtherJvm;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a model starts on the CPU kernels, is measured in the background and then switches to
 * the measured choice; and that it waits for another JVM's measurement.
 */
@Timeout(60)
class BackgroundTest extends ProviderFixture {

    private static final Patience NO_DELAY =
            new Patience(Duration.ZERO, Patience.DEFAULT.grace(), Patience.DEFAULT.poll());

    @Test
    void choose_background_beginsWithCpuKernelsAndSwitchesOver() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            thread.set(Thread.currentThread());
                            go.await();
                            return TABLE;
                        });
        assertEquals(CPU, choosing.first().candidate());
        assertTrue(better.isEmpty());
        go.countDown();
        assertEquals(chosen(Origin.MEASURED), nextBetter());
        assertTrue(thread.get().isDaemon());
        assertEquals(Optional.of(TABLE), ProfileStore.of(model).load(key(List.of(2))));
        choosing.close();
    }

    /** Passing the choice on takes long if an interpreter is built for it. */
    @Test
    void isSettled_choiceIsBeingPassedOn_isFalse() throws Exception {
        CountDownLatch passing = new CountDownLatch(1);
        CountDownLatch passed = new CountDownLatch(1);
        Choosing choosing =
                provider(MEASURING, NO_DELAY)
                        .choose(
                                model,
                                Map.of(),
                                Optional.empty(),
                                choice -> {
                                    passing.countDown();
                                    Uninterruptibles.awaitUninterruptibly(passed);
                                });
        assertTrue(passing.await(20, TimeUnit.SECONDS));
        try {
            assertFalse(choosing.isSettled());
        } finally {
            passed.countDown();
        }
        Await.until(choosing::isSettled);
        choosing.close();
    }

    @Test
    void choose_verifiedBeforeTheBestIsFound_servesFromThenOn() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Entry.Measured all =
                new Entry.Measured(
                        ALL,
                        2,
                        Latency.of(new long[] {1, 2, 3}),
                        0,
                        List.of(
                                new OutputError(
                                        ElementType.FLOAT32,
                                        new Deviation(3e-3, 1e-3, 0),
                                        new Deviation(5e-4, 1e-4, 0),
                                        1)));
        Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            verified.accept(all);
                            go.await();
                            return TABLE;
                        });
        assertEquals(CPU, choosing.first().candidate());
        DelegationChoice early = nextBetter();
        assertEquals(ALL, early.candidate());
        assertEquals(Origin.VERIFIED, early.origin());
        assertEquals(
                List.of(OutputAgreement.of("t" + FakeModel.OPERATORS, 3e-3, 5e-4, 4e-3)),
                early.outputs());
        go.countDown();
        assertEquals(chosen(Origin.MEASURED), nextBetter());
        choosing.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void choose_storedUnderLoad_isMeasuredAgainWhenIdle(boolean quiet) throws Exception {
        ProfileTable disturbed = TABLE.with(Optional.of("others disturbed it"));
        ProfileStore.of(model).save(key(List.of(2)), disturbed);
        Patience patience = new Patience(SHORT.delay(), SHORT.grace(), SHORT.poll(), () -> quiet);
        Choosing choosing =
                provider(MEASURING, patience)
                        .choose(model, Map.of(), Optional.empty(), better::add);
        assertEquals(TABLE.chosen(), choosing.first().candidate());
        assertEquals(Origin.STORED, choosing.first().origin());
        assertTrue(choosing.first().reason().contains("others disturbed it"));
        if (quiet) {
            assertEquals(chosen(Origin.MEASURED), nextBetter());
        }
        afterwards();
        assertTrue(better.isEmpty());
        assertEquals(quiet ? 1 : 0, profiles.get());
        assertEquals(
                Optional.of(quiet ? TABLE : disturbed),
                ProfileStore.of(model).load(key(List.of(2))));
        choosing.close();
    }

    @Test
    void choose_cannotBeMeasuredAgain_keepsStoredChoice() throws Exception {
        ProfileStore.of(model)
                .save(key(List.of(2)), TABLE.with(Optional.of("others disturbed it")));
        Patience patience = new Patience(SHORT.delay(), SHORT.grace(), SHORT.poll(), () -> true);
        model.processes = false;
        provider(NEVER, patience).choose(model, Map.of(), Optional.empty(), better::add);
        afterwards();
        assertTrue(better.isEmpty(), better::toString);
        assertEquals(1, model.urgencies.size(), "it was tried");
    }

    @Test
    void choose_remeasuredOnBusyMachine_keepsStoredChoice() throws Exception {
        ProfileTable disturbed = TABLE.with(Optional.of("others disturbed it"));
        ProfileStore.of(model).save(key(List.of(2)), disturbed);
        Patience patience = new Patience(SHORT.delay(), SHORT.grace(), SHORT.poll(), () -> true);
        provider(
                        (request, runner, progress, verified) ->
                                SampleTables.cpu(model.reported).with(Optional.of("again")),
                        patience)
                .choose(model, Map.of(), Optional.empty(), better::add);
        afterwards();
        assertTrue(better.isEmpty());
        assertEquals(1, profiles.get());
        assertEquals(Optional.of(disturbed), ProfileStore.of(model).load(key(List.of(2))));
    }

    @Test
    void close_whileMeasuring_interruptsAndKeepsNothing() throws Exception {
        CountDownLatch measuring = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            measuring.countDown();
                            try {
                                new CountDownLatch(1).await();
                            } catch (InterruptedException e) {
                                interrupted.countDown();
                                throw e;
                            }
                            return TABLE;
                        });
        assertTrue(measuring.await(20, TimeUnit.SECONDS));
        choosing.close();
        choosing.close();
        assertTrue(interrupted.await(20, TimeUnit.SECONDS));
        afterwards();
        assertTrue(better.isEmpty());
        assertEquals(Optional.empty(), ProfileStore.of(model).load(key(List.of(2))));
        assertEquals(0, model.openRunners.get());
        assertEquals(
                List.of(), log.lines("WARN").stream().filter(l -> !l.contains("2 of 4")).toList());
    }

    @Test
    void close_beforeItsTurn_measuresNothing() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        FakeModel busy = new FakeModel(Files.createDirectory(folder.resolve("busy")));
        provider(
                        (request, runner, progress, verified) -> {
                            go.await();
                            return TABLE;
                        })
                .choose(busy, Map.of(), Optional.empty(), better::add);
        Choosing waiting = choose(NEVER);
        waiting.close();
        go.countDown();
        nextBetter();
        afterwards();
        assertEquals(0, model.startedProcesses.get());
        assertTrue(better.isEmpty());
    }

    private static boolean waits(Thread thread) {
        return switch (thread.getState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            default -> false;
        };
    }

    @Test
    void choose_severalModels_areMeasuredOneByOne() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch allWait = new CountDownLatch(1);
        Profiling profiling =
                (request, runner, progress, verified) -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    allWait.await();
                    running.decrementAndGet();
                    return TABLE;
                };
        List<Thread> blocking = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            FakeModel one = new FakeModel(Files.createDirectory(folder.resolve("a" + i)));
            FakeModel other = new FakeModel(Files.createDirectory(folder.resolve("b" + i)));
            provider(profiling, NO_DELAY).choose(one, Map.of(), Optional.empty(), better::add);
            Thread thread =
                    new Thread(
                            () ->
                                    better.add(
                                            provider(profiling, NO_DELAY)
                                                    .choose(
                                                            other,
                                                            Map.of(
                                                                    "delegation.profile",
                                                                    "blocking"),
                                                            Optional.empty(),
                                                            better::add)
                                                    .first()));
            thread.start();
            blocking.add(thread);
        }
        for (Thread thread : blocking) {
            Await.until(() -> waits(thread));
        }
        allWait.countDown();
        for (int i = 0; i < 6; i++) {
            assertEquals(Origin.MEASURED, nextBetter().origin());
        }
        for (Thread thread : blocking) {
            thread.join();
        }
        assertEquals(1, most.get());
    }

    @Test
    void choose_sameModelTwice_measuresOnce() throws Exception {
        CountDownLatch bothChose = new CountDownLatch(1);
        Profiling slow =
                (request, runner, progress, verified) -> {
                    bothChose.await();
                    return TABLE;
                };
        choose(slow);
        choose(slow);
        bothChose.countDown();
        assertEquals(Origin.MEASURED, nextBetter().origin());
        assertEquals(Origin.STORED, nextBetter().origin());
        assertEquals(1, profiles.get());
    }

    @Test
    void choose_measuringFails_staysWithOneWarning() throws Exception {
        Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            throw new IllegalStateException("broken");
                        });
        assertEquals(CPU, choosing.first().candidate());
        assertStaysInCpuKernels("it could not be measured: broken");
        assertEquals(1, log.lines("WARN").stream().filter(l -> l.contains("could not be")).count());
    }

    @Test
    void choose_noProcess_staysWithCpuKernels() throws Exception {
        model.processes = false;
        Choosing choosing = choose(NEVER);
        assertEquals(CPU, choosing.first().candidate());
        assertStaysInCpuKernels("no process to measure in: no child process here");
        assertEquals(
                1, log.lines("WARN").stream().filter(l -> l.contains("is not measured")).count());
        choosing.close();
    }

    /** The report says why nothing was measured, not that the model is being measured. */
    private void assertStaysInCpuKernels(String reason) throws Exception {
        DelegationChoice last = nextBetter();
        assertEquals(CPU, last.candidate());
        assertEquals(Origin.UNVERIFIED, last.origin());
        assertTrue(last.reason().contains(reason), last.reason());
    }

    @Test
    void choose_background_givesWayToOthers() throws Exception {
        choose(MEASURING);
        nextBetter();
        assertEquals(List.of(Urgency.IN_BACKGROUND), model.urgencies);
    }

    @Test
    void choose_delay_measuresNothingBefore() throws Exception {
        Patience delayed = new Patience(Duration.ofHours(1), Duration.ZERO, Duration.ofMillis(10));
        Choosing choosing =
                provider(NEVER, delayed).choose(model, Map.of(), Optional.empty(), better::add);
        afterwards();
        assertEquals(0, model.startedProcesses.get());
        choosing.close();
    }

    @Test
    void choose_anotherHoldsTheLockForLong_stays() throws Exception {
        StoreLock other = ProfileStore.of(model).tryLock(key(List.of(2))).orElseThrow();
        Choosing background = choose(NEVER);
        DelegationChoice blocking = choose(NEVER, "blocking").first();
        assertEquals(CPU, blocking.candidate());
        assertEquals(CPU, background.first().candidate());
        assertEquals(1, log.lines("WARN").size());
        background.close();
        other.close();
    }

    /** Measures in another JVM: prints a line when it begins, and ends when its input closes. */
    static final class OtherMeasurement {

        private OtherMeasurement() {}

        public static void main(String[] folders) {
            DelegationChoice choice =
                    new MeasuredDelegation(
                                    (request, runner, progress, verified) -> {
                                        System.out.println("measuring");
                                        awaitEndOfInput();
                                        return TABLE;
                                    },
                                    NO_DELAY)
                            .choose(
                                    new FakeModel(Path.of(folders[0])),
                                    Map.of("delegation.profile", "blocking"),
                                    Optional.empty(),
                                    better -> {})
                            .first();
            System.out.println(choice.origin());
        }

        private static void awaitEndOfInput() {
            try {
                long unused = System.in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private Process otherJvm() throws IOException {
        Process process = OtherJvm.start(OtherMeasurement.class, folder);
        assertEquals("measuring", process.inputReader().readLine());
        return process;
    }

    /** Returns a choice that waits for another JVM's measurement. */
    private FutureTask<DelegationChoice> chooseBlocking(Profiling profiling) {
        FutureTask<DelegationChoice> choice =
                new FutureTask<>(
                        () ->
                                provider(profiling, NO_DELAY)
                                        .choose(
                                                model,
                                                Map.of("delegation.profile", "blocking"),
                                                Optional.empty(),
                                                better::add)
                                        .first());
        Thread thread = new Thread(choice);
        thread.start();
        Await.until(() -> choice.isDone() || thread.getState() == Thread.State.TIMED_WAITING);
        assertFalse(choice.isDone());
        return choice;
    }

    @Test
    void choose_anotherJvmMeasures_waitsForItsResult() throws Exception {
        Process other = otherJvm();
        provider(NEVER, NO_DELAY).choose(model, Map.of(), Optional.empty(), better::add);
        FutureTask<DelegationChoice> waiting = chooseBlocking(NEVER);
        other.getOutputStream().close();
        DelegationChoice blocking = waiting.get();
        assertEquals(chosen(Origin.STORED), blocking);
        assertEquals(blocking, nextBetter());
        assertEquals("MEASURED", other.inputReader().readLine());
        assertEquals(0, other.waitFor());
    }

    @Test
    void choose_anotherJvmDiesMeasuring_measuresItself() throws Exception {
        Process other = otherJvm();
        FutureTask<DelegationChoice> choice = chooseBlocking(MEASURING);
        other.destroyForcibly();
        assertEquals(Origin.MEASURED, choice.get().origin());
        assertEquals(Optional.of(TABLE), ProfileStore.of(model).load(key(List.of(2))));
    }
}
