package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SamplePlans.FORMAT;
import static org.djlplan.memplan.internal.store.SamplePlans.KEY;
import static org.djlplan.memplan.internal.store.SamplePlans.assertSame;
import static org.djlplan.memplan.internal.store.SamplePlans.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/** Loads damaged plan files: the result is the complete plan, or nothing and one warning. */
class PlanFileFuzzTest {

    /** Guards against hanging: a load that ends takes far less. */
    private static final Duration HANGS_AFTER = Duration.ofMinutes(2);

    private static final char[] OTHERS = {'0', '9', ' ', '"', '-', ',', ']', '}', '\\', 0xff};

    private static Path folder;
    private static Path file;

    @BeforeContainer
    static void makeFolder() throws IOException {
        folder = Files.createTempDirectory("plans");
        file = Files.createDirectory(folder.resolve(".djlplan")).resolve(FORMAT.nameOf(KEY));
    }

    @AfterContainer
    static void removeFolder() throws IOException {
        MoreFiles.deleteRecursively(folder);
    }

    @Provide
    Arbitrary<StoredPlan> plans() {
        return SamplePlans.any();
    }

    @Provide
    Arbitrary<StoreKey> keys() {
        return SamplePlans.anyKey();
    }

    /**
     * Loads the plan in the file, and checks that exactly one warning is logged if there is none.
     */
    private static Optional<StoredPlan> load(byte[] content, StoreKey key) throws IOException {
        Files.write(file, content);
        Store<StoredPlan> store = FolderStore.at(new PlanCodec(), folder, folder.resolve("cache"));
        try (LogCapture log = new LogCapture()) {
            Optional<StoredPlan> plan =
                    assertTimeoutPreemptively(HANGS_AFTER, () -> store.load(key));
            assertEquals(plan.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            return plan;
        }
    }

    private static void assertEqualOrRefused(StoredPlan expected, byte[] content)
            throws IOException {
        Optional<StoredPlan> plan = load(content, KEY);
        if (plan.isPresent()) {
            assertSame(expected, plan.get());
        }
    }

    @Property(tries = 300)
    void saveLoad_anyPlanUnderAnyKey_isEqual(
            @ForAll("plans") StoredPlan plan, @ForAll("keys") StoreKey key) {
        try (LogCapture log = new LogCapture()) {
            FolderStore.at(new PlanCodec(), folder, folder.resolve("cache")).save(key, plan);
            Store<StoredPlan> other =
                    FolderStore.at(new PlanCodec(), folder, folder.resolve("cache"));
            assertSame(plan, other.load(key).orElseThrow());
            assertEquals(List.of(), log.lines());
        }
    }

    @Example
    void load_anyByteChanged_isEqualOrRefused() throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, small());
        assertSame(small(), load(whole, KEY).orElseThrow());
        for (int at = 0; at < whole.length; at++) {
            for (int bit = at % 4; bit < 8; bit += 4) {
                byte[] damaged = whole.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertEqualOrRefused(small(), damaged);
            }
            for (int other = at % 3; other < OTHERS.length; other += 3) {
                byte[] damaged = whole.clone();
                damaged[at] = (byte) OTHERS[other];
                assertEqualOrRefused(small(), damaged);
            }
        }
    }

    @Example
    void load_truncatedAnywhere_isRefused() throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, small());
        for (int length = 0; length < whole.length - 1; length++) {
            assertEquals(Optional.empty(), load(Arrays.copyOf(whole, length), KEY));
        }
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void load_somethingInserted_isEqualOrRefused(
            @ForAll("plans") StoredPlan plan, @ForAll int place, @ForAll byte[] inserted)
            throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, plan);
        int at = Math.floorMod(place, whole.length + 1);
        byte[] damaged = Arrays.copyOf(whole, whole.length + inserted.length);
        System.arraycopy(inserted, 0, damaged, at, inserted.length);
        System.arraycopy(whole, at, damaged, at + inserted.length, whole.length - at);
        assertEqualOrRefused(plan, damaged);
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void load_partsReplacedUnderTheOldChecksum_isEqualOrRefused(
            @ForAll("plans") StoredPlan plan, @ForAll("changes") List<JsonChange> changes)
            throws IOException {
        JsonObject text = StoredText.of(KEY, plan);
        changes.forEach(change -> change.applyTo(text));
        assertEqualOrRefused(plan, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void load_partsReplacedUnderARightChecksum_isValidOrRefused(
            @ForAll("plans") StoredPlan plan, @ForAll("changes") List<JsonChange> changes)
            throws IOException {
        JsonObject text = StoredText.of(KEY, plan);
        JsonObject inside = text.getAsJsonObject("plan");
        changes.forEach(change -> change.applyTo(inside));
        byte[] changed = StoredText.withChecksum(text).getBytes(StandardCharsets.UTF_8);
        Optional<StoredPlan.Allocations> allocations =
                load(changed, KEY).flatMap(StoredPlan::allocations);
        Statistics.collect(allocations.isPresent());
        Statistics.coverage(coverage -> coverage.check(true).percentage(share -> share > 1));
        if (allocations.isPresent()) {
            assertEquals(List.of(), PlanValidator.violations(allocations.get().plan(), 64));
        }
    }

    @Provide
    Arbitrary<List<JsonChange>> changes() {
        return JsonChange.some();
    }
}
