package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.support.Forgery;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a TorchScript model in a folder from an untrusted source. */
class TorchFolderIsDataTest {

    private static final int PREDICTIONS = 3;

    @TempDir Path folder;
    private Path file;
    private ModelInputs inputs;
    private List<List<Output>> stock;

    @BeforeEach
    void copyModel() throws Exception {
        Torch.threads(1);
        TorchScriptModel model = TorchScriptModels.named("cnn");
        file = Torch.copy(model, folder);
        inputs = model.inputSets().get(0);
        stock = Torch.stock(file, inputs, PREDICTIONS);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Predicts, and returns the number of recordings. */
    private long assertPredicts() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of())) {
            for (int seed = 0; seed < PREDICTIONS; seed++) {
                assertEquals(stock.get(seed), Torch.predict(model, inputs, seed));
            }
            return Torch.report(model).predictions().recorded();
        }
    }

    /**
     * The file is valid and its checksum right, but with this plan every prediction would throw.
     */
    @Test
    void predict_forgedPlanOfATebibyte_warnsOnceAndRecordsAgain() throws Exception {
        assertEquals(1, assertPredicts());
        assertEquals(0, assertPredicts());
        String huge =
                """
                {"strategy":"greedy-by-size","bytes":[1099511627776],"allocatedAt":[0],"freedAt":[1],"offset":[0]}
                """;
        Forgery.change(
                Forgery.kept(file, ".json"),
                "plan",
                plan -> plan.add("allocations", JsonParser.parseString(huge)));
        try (LogCapture log = LogCapture.echoing()) {
            assertEquals(1, assertPredicts());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("more than this machine has"));
        }
        assertEquals(0, assertPredicts());
    }

    @Test
    void predict_linkInPlaceOfOurFolder_touchesNothingWhereItLeads() throws Exception {
        Path others = Files.createDirectory(folder.resolve("others"));
        Path upload = Files.writeString(others.resolve("upload-123.tmp"), "somebody's");
        Files.setLastModifiedTime(upload, FileTime.from(Instant.now().minusSeconds(7200)));
        Path link = Files.createSymbolicLink(file.resolveSibling(".djlplan"), others);
        Runnable reset = Torch.useCache(Files.createDirectory(folder.resolve("cache")));
        try {
            assertEquals(1, assertPredicts());
            assertEquals(0, assertPredicts(), "kept in the cache");
        } finally {
            reset.run();
        }
        try (Stream<Path> files = Files.list(others)) {
            assertEquals(List.of(upload), files.toList());
        }
        assertTrue(Files.isSymbolicLink(link));
    }

    /** For example, a model in a cache of downloads is a link. */
    @Test
    void predict_modelIsALink_isPlannedAndStored() throws Exception {
        Path store = Files.createDirectory(folder.resolve("blobs"));
        Path blob = Files.move(file, store.resolve("cnn.pt"));
        Files.createSymbolicLink(file, blob);
        assertEquals(1, assertPredicts());
        assertEquals(0, assertPredicts());
        assertTrue(Files.isDirectory(file.resolveSibling(".djlplan")));
    }
}
