package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.lifecycle.DoingModel;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests models that share the workers. The predictions of a {@link DoingModel} are large, because
 * it is a user's block.
 */
@Timeout(120)
@OnEveryDjlWhenLong
class SeveralModelsTest {

    private static final int WORKERS = 2;
    private static final int CALLS = 20;

    @TempDir Path folder;

    private static FutureTask<Float> start(DoingModel<Float, Float> model) {
        FutureTask<Float> task = new FutureTask<>(() -> model.predict(1f));
        new Thread(task).start();
        return task;
    }

    /** Large predictions have all places, and a further one waits for a place. */
    @ParameterizedTest
    @EnumSource(names = {"TFLITE", "PYTORCH"})
    void predict_lightModelWhileLargeOnesAreBlocked_passes(EngineCase engine) throws Exception {
        ModelCase each = engine.models(folder).get(0);
        List<ByteBuffer> expected = each.stock(1).get(0);
        CountDownLatch began = new CountDownLatch(WORKERS);
        CountDownLatch release = new CountDownLatch(1);
        try (ZooModel<NDList, NDList> light = each.load(Map.of("memplan.workers", WORKERS));
                DoingModel<Float, Float> large =
                        DoingModel.of(
                                x -> {
                                    began.countDown();
                                    Uninterruptibles.awaitUninterruptibly(release);
                                    return x.add(1);
                                },
                                WORKERS)) {
            // Until the first prediction has ended, it is unknown how much memory they need.
            assertEquals(expected, each.predict(light, 0));
            List<FutureTask<Float>> blocked = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                blocked.add(start(large));
            }
            began.await();
            blocked.add(start(large));
            for (int i = 0; i < CALLS; i++) {
                assertEquals(expected, each.predict(light, 0));
            }
            for (FutureTask<Float> prediction : blocked) {
                assertFalse(prediction.isDone());
            }
            release.countDown();
            for (FutureTask<Float> prediction : blocked) {
                assertEquals(2f, prediction.get());
            }
        }
    }
}
