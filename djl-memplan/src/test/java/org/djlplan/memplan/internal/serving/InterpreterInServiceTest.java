package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.thread.Later;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InterpreterInServiceTest {

    private static final PlanOptions OPTIONS =
            PlanOptions.parse(GivenOptions.of(Map.of(), Map.of(), Map.of(), List.of()));

    @TempDir Path folder;
    private StreamedCopies copies;
    private InterpreterInService service;

    @BeforeEach
    void makeService() throws IOException {
        Path model = Files.createFile(folder.resolve("no_model.tflite"));
        copies = new StreamedCopies(model, OPTIONS.threads(), OPTIONS.budget(), folder);
        service = new InterpreterInService(new BudgetedInterpreters(model, OPTIONS, copies));
    }

    @AfterEach
    void close() {
        service.close();
        copies.close();
    }

    /** Other work of the thread goes on while a prediction has its turn. */
    private void assertLaterRunsBehind(Runnable due) throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        service.turns().lock();
        try {
            Later.run(Duration.ZERO, due);
            Later.run(Duration.ofMillis(10), ran::countDown);
            assertTrue(ran.await(10, TimeUnit.SECONDS));
        } finally {
            service.turns().unlock();
        }
    }

    @Test
    void releaseIfIdle_longPrediction_doesNotStopLater() throws Exception {
        assertLaterRunsBehind(service::releaseIfIdle);
    }

    @Test
    void beginToSelect_longPrediction_doesNotStopLater() throws Exception {
        BackgroundSelection selection =
                new BackgroundSelection("model", 1, Optional.empty(), service);
        assertLaterRunsBehind(selection::beginToSelect);
    }
}
