package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests predictions on threads that have not called the engine before. There libtorch's kernels run
 * with OpenMP's number of threads, until one of them applies libtorch's own.
 */
@OnEveryDjlWhenLong
class NewThreadsTest {

    private static final int PREDICTIONS = 200;

    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"branch", "loop", "fork"})
    void predict_newThreadEachTime_answersAsStock(String name) throws Exception {
        Torch.threads(1);
        Path file = Torch.copy(TorchScriptModels.named(name), folder);
        List<ModelInputs> inputs = TorchScriptModels.named(name).inputSets();
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> planned = Torch.load(file, Map.of())) {
            for (int i = 0; i < PREDICTIONS; i++) {
                ModelInputs each = inputs.get(i % inputs.size());
                assertEquals(predict(stock, each, i), predict(planned, each, i), "prediction " + i);
            }
        }
    }

    private static List<Output> predict(
            ZooModel<NDList, NDList> model, ModelInputs inputs, long seed) throws Exception {
        FutureTask<List<Output>> task = new FutureTask<>(() -> Torch.predict(model, inputs, seed));
        Thread thread = new Thread(task);
        thread.start();
        // A thread that has not ended keeps its seat, and the next pass may go to a worker.
        thread.join();
        return task.get();
    }
}
