package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NoRoomException;
import org.djlplan.memplan.testing.OtherJvm;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MeasurementTest {

    private static final ProfileTable FIRST = SampleTables.small(2);
    private static final ProfileTable SECOND =
            new ProfileTable(
                    FIRST.partitions(), FIRST.entries(), FIRST.chosen(), "measured anew", 1, 1);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long LIMIT = 1L << 30;

    @TempDir Path folder;
    private FakeModel model;

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    private Measurement measurement(
            Profiling profiling, Map<String, String> options, Machine machine) {
        DelegationOptions parsed = DelegationOptions.parse(options);
        return new Measurement(model, parsed.request(model), profiling, Optional.empty(), machine);
    }

    private Measurement measuring(ProfileTable table, Map<String, String> options) {
        return measurement((request, runner, progress, verified) -> table, options, new Machine());
    }

    private Measurement measuring(ProfileTable table) {
        return measuring(table, Map.of());
    }

    private static Optional<DelegationChoice> attempt(Measurement measurement) throws Exception {
        return measurement.attempt(
                PATIENCE_NANOS, Urgency.IN_BACKGROUND, early -> {}, kept -> true);
    }

    @Test
    void renew_tableIsThere_isReplaced() throws Exception {
        assertEquals(Optional.of(FIRST), measuring(FIRST).renew(PATIENCE_NANOS, table -> true));
        assertEquals(Optional.of(SECOND), measuring(SECOND).renew(PATIENCE_NANOS, table -> true));
        assertEquals(Optional.of(SECOND), measuring(FIRST).kept());
        assertEquals(2, model.startedProcesses.get());
    }

    @Test
    void renew_resultNotStored_keepsExistingTable() throws Exception {
        Measurement measurement = measuring(FIRST);
        assertEquals(Optional.of(FIRST), measurement.renew(PATIENCE_NANOS, table -> false));
        assertEquals(Optional.empty(), measurement.kept());
    }

    @Test
    void renew_anotherOneMeasures_isEmpty() throws Exception {
        Measurement measurement = measuring(FIRST);
        StoreLock lock = ProfileStore.of(model).tryLock(measurement.key()).orElseThrow();
        assertEquals(Optional.empty(), measurement.renew(PATIENCE_NANOS, table -> true));
        lock.close();
        assertEquals(Optional.of(FIRST), measurement.renew(PATIENCE_NANOS, table -> true));
    }

    /** The excluded operators are part of the key, however the option names them. */
    @Test
    void stored_excluded_isFoundForTheSameOperatorsOnly() throws Exception {
        ProfileTable without = SampleTables.cpu(List.of(Set.of(0), Set.of(2), Set.of(5, 6)));
        Measurement measurement = measuring(without, Map.of("delegation.exclude", "1, 9"));
        assertEquals(Optional.of(without), measurement.renew(PATIENCE_NANOS, table -> true));
        assertEquals("1,9", measurement.key().facts().get("exclude"));
        for (String same : List.of("9,1", "9, name:t2", "t10,1-1")) {
            assertEquals(
                    Optional.of(without),
                    measuring(FIRST, Map.of("delegation.exclude", same)).kept());
        }
        for (String other : List.of("", "1", "1,8,9", "ABS")) {
            assertEquals(
                    Optional.empty(),
                    measuring(FIRST, Map.of("delegation.exclude", other)).kept(),
                    other);
        }
    }

    /** Returns a machine in a control group of version 2, a quarter of whose limit is used. */
    private Machine container(long limitBytes) throws IOException {
        Path root = folder.resolve("root");
        Path self = Files.createDirectories(root.resolve("proc/self"));
        Path group = Files.createDirectories(root.resolve("sys/fs/cgroup"));
        Files.writeString(self.resolve("cgroup"), "0::/\n");
        Files.writeString(
                self.resolve("mountinfo"), "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        Files.writeString(group.resolve("memory.max"), Long.toString(limitBytes));
        Files.writeString(group.resolve("memory.current"), Long.toString(limitBytes / 4));
        return new Machine(root);
    }

    private Measurement inContainer(long limitBytes, Profiling profiling) throws IOException {
        return measurement(profiling, Map.of(), container(limitBytes));
    }

    private long marks() {
        return marks(model);
    }

    /** Returns the number of marks that a model has. */
    static long marks(FakeModel model) {
        Path beside = model.file().resolveSibling(".djlplan");
        if (!Files.isDirectory(beside)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(beside)) {
            return files.filter(f -> f.toString().endsWith(".measuring.json")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void attempt_measuring_leavesAMarkOnlyMeanwhile() throws Exception {
        AtomicLong meanwhile = new AtomicLong();
        Measurement measurement =
                inContainer(
                        LIMIT,
                        (request, runner, progress, verified) -> {
                            meanwhile.set(marks());
                            return FIRST;
                        });
        assertTrue(attempt(measurement).isPresent());
        assertEquals(1, meanwhile.get());
        assertEquals(0, marks());
    }

    @Test
    void attempt_tooLittleLeft_startsNothing() throws Exception {
        model.neededBytes = LIMIT * 3 / 4;
        Measurement measurement =
                inContainer(LIMIT, (request, runner, progress, verified) -> FIRST);
        UnmeasurableException e =
                assertThrows(UnmeasurableException.class, () -> attempt(measurement));
        // A twentieth of the limit must stay free.
        assertEquals(
                "768 MB of memory are left here, a process to measure in may need 819",
                e.getMessage());
        assertEquals(0, model.startedProcesses.get());
        assertEquals(0, marks());
    }

    /** Leaves a mark as a killed group does: its JVM has no time to remove it. */
    private void leaveMark(long limitBytes) throws Exception {
        Measurement dying =
                inContainer(
                        limitBytes,
                        (request, runner, progress, verified) -> {
                            throw new NoRoomException("killed", true);
                        });
        assertThrows(UnmeasurableException.class, () -> attempt(dying));
        assertEquals(1, marks());
    }

    @Test
    void attempt_markIsLeft_waitsForAnotherLimit() throws Exception {
        leaveMark(LIMIT);
        Measurement same = inContainer(LIMIT, (request, runner, progress, verified) -> FIRST);
        assertThrows(UnmeasurableException.class, same::requireMeasurable);
        assertThrows(UnmeasurableException.class, () -> attempt(same));
        assertEquals(1, model.startedProcesses.get());
        Measurement more = inContainer(2 * LIMIT, (request, runner, progress, verified) -> FIRST);
        assertTrue(attempt(more).isPresent());
        assertEquals(0, marks());
    }

    @Test
    void renew_markIsLeft_measuresAndRemovesIt() throws Exception {
        leaveMark(LIMIT);
        Measurement byHand = inContainer(LIMIT, (request, runner, progress, verified) -> FIRST);
        assertEquals(Optional.of(FIRST), byHand.renew(PATIENCE_NANOS, table -> true));
        assertEquals(0, marks());
        assertEquals(List.of(Urgency.IN_BACKGROUND, Urgency.AWAITED), List.copyOf(model.urgencies));
    }

    @Test
    void attempt_noRoomForACandidate_leavesNoMark() throws Exception {
        Measurement measurement =
                inContainer(
                        LIMIT,
                        (request, runner, progress, verified) -> {
                            throw new NoRoomException("no room", false);
                        });
        assertThrows(UnmeasurableException.class, () -> attempt(measurement));
        assertEquals(0, marks());
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {EndingProgram.BEFORE, EndingProgram.MEANWHILE})
    void attempt_whileTheJvmEnds_leavesNoMark(String when) throws Exception {
        Process process = OtherJvm.start(EndingProgram.class, folder, when);
        try {
            assertTrue(process.waitFor(1, TimeUnit.MINUTES));
            assertEquals(0, process.exitValue());
            assertEquals(0, marks());
        } finally {
            process.destroyForcibly();
        }
    }
}
