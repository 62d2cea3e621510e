package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchProbe;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a later JVM uses a stored plan. */
@OnEveryDjlWhenLong
class TorchFreshJvmTest {

    private static final String NAME = "cnn";
    private static final int PREDICTIONS = 3;

    /** The numbers of unplanned predictions, unplanned allocations and recordings. */
    private static final List<String> RECORDED = List.of("1", "0", "1");

    private static final List<String> PLANNED_AT_ONCE = List.of("0", "0", "0");

    @TempDir Path folder;

    private Path file;
    private String stock;

    @BeforeEach
    void recordOnce() throws Exception {
        Torch.threads(1);
        TorchScriptModel model = TorchScriptModels.named(NAME);
        file = Torch.copy(model, folder);
        stock = TorchProbe.hash(Torch.stock(file, model.inputSets().get(0), PREDICTIONS));
    }

    private void assertPredicts(List<String> counts) throws Exception {
        List<String> answer =
                TorchProbe.predict(
                        file, TorchScriptModels.named(NAME).inputSets().get(0), PREDICTIONS);
        assertEquals(stock, answer.get(0));
        assertEquals(counts, answer.subList(1, answer.size()));
    }

    private List<String> predictInAnotherJvm(int threads) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .run(
                                TorchProbe.class,
                                "predict",
                                file.toString(),
                                NAME,
                                Integer.toString(threads),
                                Integer.toString(PREDICTIONS));
        assertEquals(0, result.exitCode(), result.err());
        return List.of(result.out().strip().split(" ", -1));
    }

    @Test
    void predict_planOfAnotherJvm_isUsedFromTheFirstPrediction() throws Exception {
        assertPredicts(RECORDED);
        List<String> answer = predictInAnotherJvm(1);
        assertEquals(stock, answer.get(0));
        assertEquals(PLANNED_AT_ONCE, answer.subList(1, answer.size()));
    }

    @Test
    @Tag("long")
    void predict_otherNumberOfThreads_recordsAgain() throws Exception {
        assertPredicts(RECORDED);
        List<String> two = predictInAnotherJvm(2);
        assertEquals(RECORDED, two.subList(1, two.size()));
        assertPredicts(PLANNED_AT_ONCE);
        assertEquals(2, plans(file.resolveSibling(".djlplan")).size());
    }

    @Test
    void predict_damagedPlan_warnsOnceAndRecordsAgain() throws Exception {
        assertPredicts(RECORDED);
        Path plan = plans(file.resolveSibling(".djlplan")).get(0);
        byte[] content = Files.readAllBytes(plan);
        content[content.length / 2] ^= 1;
        Files.write(plan, content);
        try (LogCapture log = LogCapture.echoing()) {
            assertPredicts(RECORDED);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("made again"));
        }
        assertPredicts(PLANNED_AT_ONCE);
    }

    /** A file stands in the folder's place, so that not even root can write there. */
    @Test
    void predict_folderOfTheModelCannotBeWritten_keepsThePlanInTheCache() throws Exception {
        Files.createFile(file.resolveSibling(".djlplan"));
        Path cache = Files.createDirectory(folder.resolve("cache"));
        Runnable reset = Torch.useCache(cache);
        try {
            assertPredicts(RECORDED);
            assertEquals(1, plans(cache).size());
            assertPredicts(PLANNED_AT_ONCE);
        } finally {
            reset.run();
        }
    }

    @Test
    void predict_modelOfAnotherStructure_doesNotUseThePlan() throws Exception {
        assertPredicts(RECORDED);
        Path other = TorchScriptModels.named("tuple_outputs").file();
        Files.delete(file);
        Files.copy(other, file);
        List<String> answer =
                TorchProbe.predict(
                        file, TorchScriptModels.named(NAME).inputSets().get(0), PREDICTIONS);
        assertFalse(stock.equals(answer.get(0)));
        assertEquals(RECORDED, answer.subList(1, answer.size()));
    }

    private static List<Path> plans(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }
}
