package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.djlplan.integration.contract.EngineCase;
import org.djlplan.integration.contract.ModelCase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests ONNX models that share the workers. */
@Timeout(120)
@Tag("onnxruntime")
class OrtSeveralModelsTest {

    private static final int WORKERS = 2;
    private static final int CALLS = 20;
    private static final Map<String, Integer> OPTIONS = Map.of("memplan.workers", WORKERS);

    @TempDir Path folder;

    private final CountDownLatch began = new CountDownLatch(WORKERS);
    private final CountDownLatch release = new CountDownLatch(1);

    /** Inputs that let the engine's block wait. */
    private final class BlockingInputs extends NDList {

        private static final long serialVersionUID = 1;

        BlockingInputs(NDList arrays) {
            super(arrays);
        }

        @Override
        public NDArray get(int index) {
            if (StackWalker.getInstance().walk(frames -> frames.anyMatch(this::isOfTheBlock))) {
                began.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return super.get(index);
        }

        private boolean isOfTheBlock(StackWalker.StackFrame frame) {
            return frame.getClassName().equals("ai.djl.onnxruntime.engine.OrtSymbolBlock");
        }
    }

    private FutureTask<Integer> start(ZooModel<NDList, NDList> model) {
        FutureTask<Integer> task =
                new FutureTask<>(
                        () -> {
                            try (NDManager manager = model.getNDManager().newSubManager();
                                    Predictor<NDList, NDList> predictor = model.newPredictor()) {
                                NDList inputs = OrtModels.image(manager, 32);
                                NDList outputs = predictor.predict(new BlockingInputs(inputs));
                                int count = outputs.size();
                                outputs.close();
                                return count;
                            }
                        });
        new Thread(task).start();
        return task;
    }

    /** A model's predictions count as large until the first one has ended. */
    @Test
    void predict_lightModelWhileLargeOnesAreBlocked_passes() throws Exception {
        ModelCase each = EngineCase.ONNX_RUNTIME.models(folder).get(2);
        try (ZooModel<NDList, NDList> light = each.load(OPTIONS);
                ZooModel<NDList, NDList> large =
                        OrtModels.planned(OrtModels.classifier(folder), OPTIONS)) {
            List<ByteBuffer> expected = each.predict(light, 1);
            List<FutureTask<Integer>> blocked = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                blocked.add(start(large));
            }
            began.await();
            blocked.add(start(large));
            for (int i = 0; i < CALLS; i++) {
                assertEquals(expected, each.predict(light, 1));
            }
            for (FutureTask<Integer> prediction : blocked) {
                assertFalse(prediction.isDone());
            }
            release.countDown();
            for (FutureTask<Integer> prediction : blocked) {
                assertEquals(1, prediction.get());
            }
        }
    }
}
