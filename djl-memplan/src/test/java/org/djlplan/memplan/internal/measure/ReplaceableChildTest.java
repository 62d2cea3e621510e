package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.measure.FakeMeasuringProcess.Start;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ReplaceableChildTest {

    /** Long enough on any machine. */
    private static final Duration LONG = Duration.ofSeconds(100);

    private static final Limits LIMITS = new Limits(LONG, LONG, LONG, 20, 1);

    @TempDir private Path folder;

    private Path file() {
        return folder.resolve("model.tflite");
    }

    private ReplaceableChild child(Start how) {
        OpenModelRequest model =
                new OpenModelRequest(
                        file(),
                        "a file",
                        "xnnpack",
                        Tolerance.AUTO,
                        Path.of("libtensorflowlite_jni.so"),
                        new MemoryNeed(64 << 20, 1 << 20),
                        Optional.empty());
        return new ReplaceableChild(model, ProcessRunnerTest.jvm(how), LIMITS, Urgency.AWAITED);
    }

    @Test
    void close_whileGetOpensTheModel_endsTheProcess() throws Exception {
        ReplaceableChild child = child(Start.HANGS_OPENING);
        try {
            FutureTask<MeasuringChild> get = new FutureTask<>(child::get);
            Thread thread = new Thread(get);
            thread.start();
            Await.until(() -> get.isDone() || Files.exists(file()));
            long pid = child.pid().orElseThrow();

            child.close();

            ExecutionException e = assertThrows(ExecutionException.class, get::get);
            assertEquals(IllegalStateException.class, e.getCause().getClass(), e::toString);
            assertTrue(ProcessRunnerTest.ends(pid));
            assertEquals(Optional.empty(), child.pid());
            assertTrue(child.isClosed());
        } finally {
            child.close();
        }
    }

    @Test
    void get_afterClose_throwsAndStartsNoProcess() {
        ReplaceableChild child = child(Start.GOOD);
        child.close();
        child.close();
        assertThrows(IllegalStateException.class, child::get);
        assertThrows(IllegalStateException.class, child::requireOpen);
        assertEquals(Optional.empty(), child.pid());
    }
}
