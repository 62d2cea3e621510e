package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests random models with inputs of random sizes, some of which recur, on several threads at once.
 * Outputs equal the stock engine's bits as long as they are kept. {@code -Ddjlplan.random.seed=N
 * -Ddjlplan.random.models=1} repeats one model.
 */
class TorchRandomModelsTest {

    private static final int FIRST_SEED = Integer.getInteger("djlplan.random.seed", 0);
    private static final int MODELS = Integer.getInteger("djlplan.random.models", 25);
    private static final int THREADS = 3;
    private static final int ROUNDS = 2;
    private static final int REQUESTS = 10;
    private static final int COMMON_SIZES = 3;

    @TempDir private Path folder;

    private long escaped;

    /** One prediction, and the stock engine's outputs. */
    private record Request(ModelInputs inputs, long seed, List<Output> expected, boolean kept) {}

    /** Outputs that the test keeps for a while, and their request. */
    private record Kept(Request request, NDList outputs) {}

    @OnEveryDjlWhenLong
    @Test
    void predict_randomModelsAndSizes_answersAsStockWhileOutputsAreKept() throws Exception {
        Torch.threads(1);
        for (int seed = FIRST_SEED; seed < FIRST_SEED + MODELS; seed++) {
            RandomTorchScript model = RandomTorchScript.of(seed);
            String name = "seed " + seed + " of\n" + model;
            try {
                compare(model, seed);
            } catch (Exception | AssertionError e) {
                throw new AssertionError(name, e);
            }
            Torch.assertNoArenas();
        }
        if (MODELS > 1) {
            assertTrue(escaped > 0, "outputs are kept");
        }
    }

    private void compare(RandomTorchScript model, long seed) throws Exception {
        Path file = model.write(folder.resolve("random_" + seed + ".pt"));
        List<List<Request>> requests = requests(model, file, new Random(seed));
        List<Kept> kept = new ArrayList<>();
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            try (ZooModel<NDList, NDList> loaded = Torch.load(Torch.copy(file, folder), Map.of())) {
                for (int round = 0; round < ROUNDS; round++) {
                    List<List<Request>> own =
                            requests.subList(round * THREADS, (round + 1) * THREADS);
                    Threads.all(THREADS, thread -> predict(loaded, own.get(thread), manager))
                            .forEach(kept::addAll);
                }
                assertKept(kept);
                count(Torch.report(loaded));
            }
            assertKept(kept);
        }
    }

    /** Returns a list of requests per thread and round. */
    private static List<List<Request>> requests(RandomTorchScript model, Path file, Random random)
            throws Exception {
        List<ModelInputs> common = new ArrayList<>();
        for (int i = 0; i < COMMON_SIZES; i++) {
            common.add(model.sizes(random));
        }
        List<List<Request>> all = new ArrayList<>();
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                Predictor<NDList, NDList> predictor = stock.newPredictor()) {
            for (int i = 0; i < ROUNDS * THREADS; i++) {
                List<Request> own = new ArrayList<>();
                for (int j = 0; j < REQUESTS; j++) {
                    ModelInputs inputs =
                            random.nextBoolean()
                                    ? common.get(random.nextInt(COMMON_SIZES))
                                    : model.sizes(random);
                    long values = random.nextLong();
                    try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                        NDList answer = predictor.predict(inputs.create(manager, values));
                        boolean kept = random.nextInt(3) == 0;
                        own.add(new Request(inputs, values, Output.copyOf(answer), kept));
                    }
                }
                all.add(own);
            }
        }
        return all;
    }

    private static List<Kept> predict(
            ZooModel<NDList, NDList> model, List<Request> requests, NDManager manager)
            throws Exception {
        Torch.threads(1);
        List<Kept> kept = new ArrayList<>();
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (Request request : requests) {
                NDManager own = manager.newSubManager();
                Kept answer =
                        new Kept(
                                request,
                                predictor.predict(request.inputs.create(own, request.seed)));
                assertAsStock(answer);
                if (request.kept) {
                    kept.add(answer);
                } else {
                    own.close();
                }
            }
            assertKept(kept);
        }
        return kept;
    }

    private static void assertKept(List<Kept> kept) {
        kept.forEach(TorchRandomModelsTest::assertAsStock);
    }

    private static void assertAsStock(Kept answer) {
        List<Output> actual = Output.copyOf(answer.outputs);
        Request request = answer.request;
        for (int i = 0; i < request.expected.size(); i++) {
            Output expected = request.expected.get(i);
            assertEquals(expected.shape(), actual.get(i).shape(), "output " + i);
            assertTrue(
                    expected.equals(actual.get(i)),
                    "output " + i + " of " + expected.shape() + ", inputs " + request.inputs);
        }
        assertEquals(request.expected.size(), actual.size());
    }

    private void count(PlanReport report) {
        assertEquals(Optional.empty(), report.unplannedReason());
        PlanReport.Predictions predictions = report.predictions();
        assertEquals(THREADS * ROUNDS * REQUESTS, predictions.total());
        assertEquals(0, predictions.unplanned(), predictions.toString());
        escaped += predictions.escaped();
    }
}
