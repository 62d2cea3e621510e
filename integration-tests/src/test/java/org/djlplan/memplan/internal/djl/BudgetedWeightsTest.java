package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.internal.source.torchscript.SlicedArchive;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests loads of TorchScript files with a budget. */
class BudgetedWeightsTest {

    private static final TorchScriptModel MODEL = TorchScriptModels.named("attention");

    /** A budget in which layers of 12 kB are too large. */
    private static final String TINY = "50kB:best-effort";

    @TempDir private Path folder;

    @BeforeEach
    void useOneThread() {
        Torch.threads(1);
    }

    /** Copies the model, with a variable of the name but not the type that a slice has. */
    private Path unsliceable() throws IOException {
        Map<String, String> code = new HashMap<>();
        try (ZipFile zip = new ZipFile(MODEL.file().toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                if (entry.getName().contains("/linear/") && entry.getName().endsWith(".py")) {
                    String before =
                            new String(
                                    zip.getInputStream(entry).readAllBytes(),
                                    StandardCharsets.UTF_8);
                    code.put(
                            entry.getName(),
                            before.replace(
                                    "    return ", "    djlplan_0_part = \"\"\n    return "));
                }
            }
        }
        Path file = folder.resolve("attention.pt");
        new SlicedArchive(MODEL.file(), code, code.size()).write(file);
        return file;
    }

    @Test
    void load_slicedCopyThatTheEngineRefuses_runsUnsliced() throws Exception {
        Path file = unsliceable();
        ModelInputs inputs = MODEL.inputSets().get(0);
        List<Output> expected = Torch.stock(file, inputs, 1).get(0);
        try (LogCapture log = new LogCapture();
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of("memplan.budget", TINY))) {
            assertEquals(expected, Torch.predict(model, inputs, 0));
            assertEquals(0, Torch.report(model).budget().orElseThrow().slicedOperators());
            assertTrue(
                    log.ours("WARN").stream().anyMatch(line -> line.contains("is not sliced")),
                    log.lines().toString());
        }
        Torch.assertNoArenas();
    }

    @ParameterizedTest
    @CsvSource({"1, false", "1000, true"})
    void load_earlyWeights_areUsedIfTheFileHasRoomForAll(long megabytes, boolean used)
            throws Exception {
        try (Model model = Model.newInstance("attention", "PyTorch")) {
            Path file = MODEL.file();
            WeightFile early = WeightFile.create(folder, megabytes << 20);
            early.beginLoad();
            Block block = StockBlock.load(model, file.getParent(), "attention");
            early.endLoad();
            BudgetedWeights.Loaded loaded =
                    BudgetedWeights.load(
                            model,
                            file,
                            Optional.of(new BudgetedWeights.Early(block, early)),
                            BudgetOptions.of("1GB").orElseThrow());
            assertEquals(used, loaded.block() == block);
            loaded.weights().orElseThrow().close();
            BudgetedWeights.free(loaded.block());
        }
    }
}
