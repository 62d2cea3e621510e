package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.memplan.internal.djl.ModelPlanning;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.KeptCopyCodec;
import org.djlplan.memplan.internal.store.WeightTraceCodec;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests files in {@code .djlplan/} and options of version 0.2.0. Each file is used, or made again
 * without a warning. Each option works, or a warning names its replacement.
 */
class UpgradeTest {

    /** Files that version 0.2.0 wrote. */
    private static final Path WRITTEN = Path.of("src/test/resources/upgrade/0.2.0");

    @TempDir private Path models;
    @TempDir private Path cache;

    @Test
    void weightTraces_ofAnEarlierVersion_doNoHarm() throws IOException {
        assertHarmless(new WeightTraceCodec(), "zoo_layers-98fe935831851e26.weights.json");
    }

    @Test
    void copies_ofAnEarlierVersion_doNoHarm() throws IOException {
        assertHarmless(new KeptCopyCodec(), "tiny_resnet.tflite-309a2885dc5e4071.copy.json");
    }

    @Test
    void tablesOfDelegation_ofAnEarlierVersion_doNoHarm() throws IOException {
        put("mobilenet_v2.tflite-852489cd64c425da.profile.json");
        Path model = Files.createFile(models.resolve("mobilenet_v2.tflite"));
        try (LogCapture log = new LogCapture()) {
            assertEquals(List.of(), ProfileStore.list(model, cache));
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void files_ofAnEarlierVersion_areAllTested() throws IOException {
        try (Stream<Path> files = Files.list(WRITTEN)) {
            assertEquals(3, files.count());
        }
    }

    private Path put(String name) throws IOException {
        Path folder = Files.createDirectories(models.resolve(".djlplan"));
        return Files.copy(WRITTEN.resolve(name), folder.resolve(name));
    }

    private void assertHarmless(Codec<?> codec, String name) throws IOException {
        String model =
                JsonParser.parseString(Files.readString(put(name)))
                        .getAsJsonObject()
                        .getAsJsonObject("key")
                        .get("model")
                        .getAsString();
        try (LogCapture log = new LogCapture()) {
            int usable = FolderStore.at(codec, models, cache).all(model).size();
            assertEquals(1, usable + log.ours("INFO").size(), "used, or made again");
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "memplan.enabled | true",
                "memplan.workers | auto",
                "memplan.maxPredictions | 4",
                "memplan.threads | 2",
                "memplan.liveness | op",
                "memplan.verify | false",
                "memplan.warmup | 1,3,224,224",
                "memplan.budget | 64MB:best-effort",
                "memplan.sharedBudget | 256MB",
                "memplan.translatorFactory | org.djlplan.memplan.PlannedTranslatorFactory",
                "memplan.blockFactory | org.djlplan.memplan.PlannedBlockFactory",
                "delegation.enabled | every-shape",
                "delegation.delegate | xnnpack-transient",
                "delegation.objective | balanced",
                "delegation.maxMemory | 64MB",
                "delegation.profile | blocking:3s",
                "delegation.profileFrom | /models/result.zip",
                "delegation.onMissing | cpu",
                "delegation.tolerance | 0.001",
                "delegation.exclude | 17-23,CONV_2D",
            })
    void option_ofAnEarlierVersion_isAccepted(String key, String value) {
        try (LogCapture log = new LogCapture()) {
            ModelPlanning unused =
                    new ModelPlanning(Map.of(key, value), Map.of(), Optional.empty());
            assertTrue(log.ours("WARN").size() <= 1, () -> log.lines().toString());
        }
    }
}
