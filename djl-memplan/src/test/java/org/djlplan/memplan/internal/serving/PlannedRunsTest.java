package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.tflite.FakeEngine;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.junit.jupiter.api.Test;

class PlannedRunsTest {

    private static final Candidate CPU = Candidate.cpu(1);
    private static final int IN_FILE_BYTES = 4 * Float.BYTES;

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();
    private final InterpreterFactory factory =
            engine.factory(threads -> new FakeEngine.FakeDelegate(() -> {}, delegates));
    private final PlannedRuns runs = new PlannedRuns(factory, 1, 1, false);

    private static List<ByteBuffer> values() {
        return List.of(ByteBuffer.allocate(IN_FILE_BYTES));
    }

    /** Only until its first run: another one would not have its state. */
    @Test
    void run_planNoLongerFitsAndModelKeepsState_isAnErrorOnceItRan() throws Exception {
        PlannedRuns stateful = new PlannedRuns(factory, 1, 1, true);
        try (ModelInterpreter built = factory.build(FakeEngine.IN_FILE, CPU, false)) {
            engine.arenaFits = false;
            assertEquals(Optional.empty(), stateful.run(built, values()));
            engine.arenaFits = true;
            assertTrue(stateful.run(built, values()).isPresent());
            engine.arenaFits = false;
            IllegalStateException e =
                    assertThrows(IllegalStateException.class, () -> stateful.run(built, values()));
            assertTrue(e.getMessage().contains("state of earlier predictions"), e::getMessage);
            engine.arenaFits = true;
            assertTrue(stateful.run(built, values()).isPresent());
        }
    }

    @Test
    void ready_planDoesNotFit_throwsAndClosesIt() {
        engine.arenaFits = false;
        assertThrows(UnplannableException.class, () -> runs.ready(FakeEngine.IN_FILE, CPU));
        assertEquals(1, engine.mostOpen.get());
        assertEquals(0, engine.open.get());
        assertEquals(0, ArenaPool.shared().metric().leased());
    }
}
