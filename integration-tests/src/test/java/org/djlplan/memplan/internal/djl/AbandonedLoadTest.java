package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests loads with a budget that were announced, and failed without notice. */
class AbandonedLoadTest {

    private static final Map<String, String> GIVEN = Map.of("memplan.budget", "50MB");

    @BeforeAll
    static void attach() {
        Torch.threads(1);
        assertEquals(
                Optional.empty(), TorchAllocator.attach(Engine.getEngine("PyTorch").getVersion()));
    }

    /** Returns how many files without a name are open. */
    private static int openFiles() {
        int open = 0;
        for (File descriptor : new File("/proc/self/fd").listFiles()) {
            open += isUnnamed(descriptor.toPath()) ? 1 : 0;
        }
        return open;
    }

    private static boolean isUnnamed(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().endsWith(" (deleted)");
        } catch (IOException e) {
            // It is the descriptor of the list itself.
            return false;
        }
    }

    /** Returns when earlier tasks of the thread have run. */
    private static void awaitLimit() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        Later.run(Duration.ZERO, reached::countDown);
        assertTrue(reached.await(30, TimeUnit.SECONDS));
    }

    @Test
    void expect_threadEndsWithoutAModel_freesTheFileAtTheLimit() throws Exception {
        int before = openFiles();
        AtomicInteger during = new AtomicInteger();
        Thread thread =
                new Thread(
                        () -> {
                            BudgetedWeights.expect(GIVEN, Duration.ZERO);
                            // The thread holds the file, even if the limit has been reached.
                            during.set(openFiles());
                        });
        thread.start();
        thread.join();

        assertTrue(during.get() > before, during + " files");
        Await.until(() -> openFiles() <= before);
    }

    @Test
    void expect_afterTheLimitOfAnotherLoad_expectsAgain() throws Exception {
        int before = openFiles();
        BudgetedWeights.expect(GIVEN, Duration.ZERO);
        awaitLimit();
        assertEquals(Optional.empty(), BudgetedWeights.arrived());

        BudgetedWeights.expect(GIVEN, Duration.ZERO);
        awaitLimit();
        BudgetedWeights.expect(GIVEN);
        Optional<WeightFile> file = BudgetedWeights.arrived();

        assertTrue(file.isPresent());
        file.get().close();
        assertTrue(openFiles() <= before);
    }
}
