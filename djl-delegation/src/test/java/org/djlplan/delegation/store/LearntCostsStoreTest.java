package org.djlplan.delegation.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.delegation.FakeModel;
import org.djlplan.delegation.LogCapture;
import org.djlplan.delegation.choice.Cost;
import org.djlplan.delegation.choice.CostKey;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.choice.LearntCosts;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.StoreKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LearntCostsStoreTest {

    private static final StoreKey KEY = new StoreKey("x", Map.of());

    private static final LearntCosts COSTS =
            LearntCosts.of(
                    ImmutableMap.of(
                            new CostKey(Kind.CPU, "CONV_2D", -1), new Cost(1.0 / 3, 2e9),
                            new CostKey(Kind.DELEGATE, "CUSTOM:\"é\"", 4), new Cost(0, 7),
                            new CostKey(Kind.KERNEL, "", 1), new Cost(30_000, 3),
                            new CostKey(Kind.CROSSING, "", 1), new Cost(12.5, 1 << 20)));

    @TempDir Path folder;
    private final LogCapture log = new LogCapture();
    private FakeModel model;

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    @AfterEach
    void stopCapture() {
        log.close();
    }

    private FolderStore<LearntCosts> store() {
        return FolderStore.at(new LearntCostsCodec(), folder, folder.resolve("cache"));
    }

    private Path file() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            return files.collect(Collectors.toList()).get(0);
        }
    }

    private List<NodeTime> profile() {
        return model.graph().operators().stream()
                .map(o -> new NodeTime(ImmutableSortedSet.of(o.index()), false, 1_000_000))
                .toList();
    }

    @Test
    void load_whatWasSaved_isTheSame() {
        store().save(KEY, COSTS);
        assertEquals(COSTS.costs(), store().load(KEY).orElseThrow().costs());
        assertEquals(List.of(), log.lines());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "{}",
                "{\"costs\":{}}",
                "{\"cost\":[]}",
                "{\"costs\":[],\"more\":1}",
                "{\"costs\":[[]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",\"3.0\",\"4.0\"]]}",
                "{\"costs\":[[\"GPU\",\"A\",\"1\",\"2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"\",\"1\",\"2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"KERNEL\",\"A\",\"1\",\"2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"0\",\"2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1.5\",\"2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"-2.0\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",\"0.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"1.0E300\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"NaN\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",\"Infinity\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2d\",\"3.0\"]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",null]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",\"3.0\"],"
                        + "[\"CPU\",\"A\",\"1\",\"2.0\",\"3.0\"]]}"
            })
    void load_whatIsNeverWritten_isNothingAndTold(String value) throws IOException {
        LearntCosts one = LearntCosts.of(Map.of(new CostKey(Kind.CPU, "A", 1), new Cost(2, 3)));
        String text = "{\"costs\":[[\"CPU\",\"A\",\"1\",\"2.0\",\"3.0\"]]}";
        store().save(KEY, one);
        String file = Files.readString(file());
        assertTrue(file.contains(text), file);
        Files.writeString(file(), file.replace(text, value).replace(sha256(text), sha256(value)));
        assertTrue(store().load(KEY).isEmpty());
        assertEquals(1, log.lines().size(), () -> log.lines().toString());
    }

    private static String sha256(String text) {
        return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
    }

    @Test
    void load_beforeAnythingWasLearnt_areTheDefaults() {
        assertTrue(LearntCostsStore.load(model).costs().isEmpty());
    }

    @Test
    void learn_ofOneModel_isKnownForAnother() throws IOException {
        LearntCostsStore.learn(model, profile(), 2);
        LearntCosts learnt = LearntCostsStore.load(model);
        assertTrue(!learnt.costs().isEmpty());
        FakeModel other = new FakeModel(folder);
        Files.writeString(other.file(), "other weights");
        assertEquals(learnt.costs(), LearntCostsStore.load(other).costs());
        LearntCostsStore.learn(other, profile(), 2);
        assertNotEquals(learnt.costs(), LearntCostsStore.load(model).costs());
        assertEquals(List.of(), log.lines());
    }

    @Test
    void load_forAnotherDelegate_areTheDefaults() {
        LearntCostsStore.learn(model, profile(), 2);
        model.facts = Map.of("engine", "TFLite 2.6.2", "delegate", "other");
        assertTrue(LearntCostsStore.load(model).costs().isEmpty());
    }
}
