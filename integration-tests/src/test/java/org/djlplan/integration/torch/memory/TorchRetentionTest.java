package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.InsideTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchProbe;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an array returned to the user never lies in memory that a later prediction uses. */
@OnEveryDjlWhenLong
class TorchRetentionTest implements TorchTests {

    private static final int RETAINED = 20;

    @TempDir Path folder;

    private ZooModel<NDList, String> loadInside(String name) throws Exception {
        return Torch.load(
                Torch.copy(TorchScriptModels.named(name), folder),
                String.class,
                Map.of(),
                PlannedTranslatorFactory.wrap(new InsideTranslator()));
    }

    @Test
    void close_outputsInAnyOrderByAnotherThread_doesNotDisturbPredictions() throws Exception {
        ModelInputs inputs = TorchScriptModels.named("tuple_outputs").inputSets().get(0);
        List<List<Output>> expected =
                Torch.stock(TorchScriptModels.named("tuple_outputs").file(), inputs, RETAINED);
        for (int round = 0; round < 5; round++) {
            try (ZooModel<NDList, String> model = loadInside("tuple_outputs");
                    Predictor<NDList, String> inside = model.newPredictor();
                    Predictor<NDList, NDList> bare = model.newPredictor(new BareTranslator());
                    NDManager manager = NDManager.newBaseManager("PyTorch")) {
                assertEquals(expected.get(0).toString(), inside.predict(inputs.create(manager, 0)));
                List<NDList> retained = new ArrayList<>();
                for (int seed = 0; seed < RETAINED; seed++) {
                    retained.add(bare.predict(inputs.create(manager, seed)));
                }
                Collections.shuffle(retained, new Random(round));
                CompletableFuture<Void> closing =
                        CompletableFuture.runAsync(() -> retained.forEach(NDList::close));
                for (int seed = 0; seed < RETAINED; seed++) {
                    assertEquals(expected.get(seed), Torch.predict(bare, inputs, seed));
                }
                closing.get(30, TimeUnit.SECONDS);
            }
        }
    }

    /** The outputs are tiny; six of them stay, each in an arena of 48 MB. */
    @Test
    void predict_outputsInsideOfArenasRetained_pinTheirPagesOnly() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch")
                        .run(
                                TorchProbe.class,
                                Torch.copy(TorchScriptModels.named("wide"), folder).toString());
        assertEquals(0, result.exitCode(), result.err());
        String[] figures = result.out().strip().split(" ", -1);
        long arenaBytes = Long.parseLong(figures[0]);
        long grown = Long.parseLong(figures[1]);
        assertTrue(arenaBytes > 30_000_000, result.out());
        assertTrue(grown < arenaBytes / 2, result.out());
        assertEquals("true", figures[2]);
    }
}
