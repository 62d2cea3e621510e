package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests predictions on several threads at once. */
class TorchConcurrencyTest {

    private static final int THREADS = 4;
    private static final int SEEDS = 30;

    @TempDir Path folder;

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** The work of one thread. */
    private interface Work {
        void run(int thread) throws Exception;
    }

    private static void onThreads(Work work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        try {
            List<Future<Void>> running = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                Callable<Void> task =
                        () -> {
                            Torch.threads(1);
                            start.await();
                            work.run(thread);
                            return null;
                        };
                running.add(executor.submit(task));
            }
            for (Future<Void> each : running) {
                Void unused = each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            executor.shutdownNow();
        }
    }

    private static void assertRight(
            Predictor<NDList, NDList> predictor, ModelInputs inputs, List<List<Output>> expected)
            throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            assertEquals(expected.get(seed), Torch.predict(predictor, inputs, seed));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cnn", "lstm", "branch", "fork", "attention"})
    void predict_onePredictorOrOnePerThread_staysRight(String name) throws Exception {
        Torch.threads(1);
        Path file = Torch.copy(TorchScriptModels.named(name), folder);
        ModelInputs inputs = TorchScriptModels.named(name).inputSets().get(1);
        List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
        try (ZooModel<NDList, NDList> planned = Torch.load(file, Map.of("memplan.workers", 8));
                Predictor<NDList, NDList> shared = planned.newPredictor()) {
            onThreads(thread -> assertRight(shared, inputs, expected));
            onThreads(
                    thread -> {
                        try (Predictor<NDList, NDList> own = planned.newPredictor()) {
                            assertRight(own, inputs, expected);
                        }
                    });
            PlanReport report = Torch.report(planned);
            assertEquals(2L * THREADS * SEEDS, report.predictions().total());
            assertTrue(ArenaPool.shared().metric().arenas() <= THREADS);
            assertEquals(0, ArenaPool.shared().metric().leased());
        }
    }

    @Test
    void predict_allArenasTakenWithoutWorkers_isServedByTheEngineAndCounted() throws Exception {
        Torch.threads(1);
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        ModelInputs inputs = TorchScriptModels.named("cnn").inputSets().get(1);
        List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
        int most = 2 * Machine.cores();
        long overflows = ArenaPool.shared().metric().overflows();
        List<ArenaPool.Lease> taken = new ArrayList<>();
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.workers", 0));
                ArenaPool.Need others = ArenaPool.shared().announce(1)) {
            assertEquals(expected.get(0), Torch.predict(model, inputs, 0));
            assertEquals(0, Torch.report(model).predictions().unplanned());
            for (int i = 0; i < most; i++) {
                taken.add(others.lease(most, Duration.ZERO));
            }
            assertEquals(expected.get(1), Torch.predict(model, inputs, 1));
            assertEquals(overflows + 1, ArenaPool.shared().metric().overflows());
            assertEquals(1, Torch.report(model).predictions().unplanned());
            taken.forEach(ArenaPool.Lease::close);
            assertEquals(expected.get(2), Torch.predict(model, inputs, 2));
            PlanReport report = Torch.report(model);
            assertEquals(1, report.predictions().unplanned());
            assertEquals(0, report.predictions().unplannedAllocations());
        }
    }
}
