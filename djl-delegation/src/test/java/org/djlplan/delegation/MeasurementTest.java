package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.delegation.store.ProfileStore;
import org.djlplan.delegation.store.SampleTables;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.store.StoreLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasurementTest {

    private static final ProfileTable FIRST = SampleTables.small(2);
    private static final ProfileTable SECOND =
            new ProfileTable(
                    FIRST.partitions(), FIRST.entries(), FIRST.chosen(), "measured anew", 1, 1);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    @TempDir Path folder;
    private FakeModel model;

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    private Measurement measuring(ProfileTable table, Map<String, String> options)
            throws IOException {
        return new Measurement(
                Request.of(model, DelegationOptions.parse(options)),
                (request, runner, progress) -> table,
                Optional.empty());
    }

    private Measurement measuring(ProfileTable table) throws IOException {
        return measuring(table, Map.of());
    }

    @Test
    void renew_tableIsThere_isReplaced() throws Exception {
        assertEquals(Optional.of(FIRST), measuring(FIRST).renew(PATIENCE_NANOS, table -> true));
        assertEquals(Optional.of(SECOND), measuring(SECOND).renew(PATIENCE_NANOS, table -> true));
        assertEquals(Optional.of(SECOND), measuring(FIRST).kept());
        assertEquals(2, model.startedProcesses.get());
    }

    @Test
    void renew_notToBeKept_leavesWhatIsThere() throws Exception {
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

    @Test
    void renew_threadsByHand_isFoundByALoadWithAsMany() throws Exception {
        ProfileTable tuned = SampleTables.small(2);
        assertEquals(
                Optional.of(tuned),
                measuring(tuned, Map.of("delegation.threads", "2"))
                        .renew(PATIENCE_NANOS, table -> true));
        model.threads = 2;
        DelegationChoice choice = measuring(FIRST).stored().orElseThrow();
        assertEquals(DelegationChoice.Origin.STORED, choice.origin());
        assertEquals(2, choice.candidate().threads());
    }
}
