package org.djlplan.memplan.store;

import static org.djlplan.memplan.store.SampleSearchedPlans.FORMAT;
import static org.djlplan.memplan.store.SampleSearchedPlans.KEY;
import static org.djlplan.memplan.store.SampleSearchedPlans.assertSame;
import static org.djlplan.memplan.store.SampleSearchedPlans.small;
import static org.djlplan.memplan.store.SampleSearchedPlans.text;
import static org.djlplan.memplan.store.SampleSearchedPlans.withChecksum;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.io.MoreFiles;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import net.jqwik.api.statistics.Statistics;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.testing.LogCapture;

/**
 * Whatever is in a file: the plan that was kept is loaded, or none and that is told in one line.
 */
class SearchedPlanFuzzTest {

    private static Path folder;
    private static Path file;

    @BeforeContainer
    static void makeFolder() throws IOException {
        folder = Files.createTempDirectory("searched");
        file = Files.createDirectory(folder.resolve(".djlplan")).resolve(FORMAT.nameOf(KEY));
    }

    @AfterContainer
    static void removeFolder() throws IOException {
        MoreFiles.deleteRecursively(folder);
    }

    @Provide
    Arbitrary<SearchedPlan> plans() {
        return SampleSearchedPlans.any();
    }

    @Provide
    Arbitrary<List<JsonChange>> changes() {
        return JsonChange.some();
    }

    /** Loads what is in the file, and checks that it is told exactly once when it is nothing. */
    private static Optional<SearchedPlan> load(byte[] content) throws IOException {
        Files.write(file, content);
        try (LogCapture log = new LogCapture()) {
            Optional<SearchedPlan> plan = store().load(KEY);
            assertEquals(plan.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            return plan;
        }
    }

    private static FolderStore<SearchedPlan> store() {
        return FolderStore.at(new SearchedPlanCodec(), folder, folder.resolve("cache"));
    }

    private static void assertEqualOrRefused(SearchedPlan expected, byte[] content)
            throws IOException {
        Optional<SearchedPlan> plan = load(content);
        if (plan.isPresent()) {
            assertSame(expected, plan.get());
        }
    }

    @Property(tries = 200)
    void saveLoad_anyPlan_isEqual(@ForAll("plans") SearchedPlan plan) {
        store().save(KEY, plan);
        assertSame(plan, store().load(KEY).orElseThrow());
    }

    @Example
    void load_anyBitChanged_isEqualOrRefused() throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, small());
        assertSame(small(), load(whole).orElseThrow());
        for (int at = 0; at < whole.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = whole.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertEqualOrRefused(small(), damaged);
            }
        }
    }

    @Example
    void load_truncatedAnywhere_isRefused() throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, small());
        for (int length = 0; length < whole.length - 1; length++) {
            assertEquals(Optional.empty(), load(Arrays.copyOf(whole, length)));
        }
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void load_partsReplacedUnderTheOldChecksum_isEqualOrRefused(
            @ForAll("plans") SearchedPlan plan, @ForAll("changes") List<JsonChange> changes)
            throws IOException {
        JsonObject text = text(plan);
        changes.forEach(change -> change.applyTo(text));
        assertEqualOrRefused(plan, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void load_partsReplacedUnderARightChecksum_isValidOrRefused(
            @ForAll("plans") SearchedPlan plan, @ForAll("changes") List<JsonChange> changes)
            throws IOException {
        JsonObject text = text(plan);
        JsonObject inside = text.getAsJsonObject("searched-plan");
        changes.forEach(change -> change.applyTo(inside));
        Optional<SearchedPlan> loaded = load(withChecksum(text));
        Statistics.collect(loaded.isPresent());
        Statistics.coverage(coverage -> coverage.check(true).count(count -> count > 0));
        if (loaded.isPresent()) {
            assertEquals(List.of(), PlanValidator.violations(loaded.get().plan(), 64));
        }
    }
}
