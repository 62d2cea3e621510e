package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;
import static org.djlplan.memplan.internal.store.SampleTraces.KEY;
import static org.djlplan.memplan.internal.store.SampleTraces.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/** Loads damaged plan files: the result is the complete plan, or nothing and one warning. */
class FormatFuzzTest {

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
    Arbitrary<WeightTrace> plans() {
        return SampleTraces.any();
    }

    @Provide
    Arbitrary<StoreKey> keys() {
        return SampleTraces.anyKey();
    }

    /**
     * Loads the plan in the file, and checks that exactly one warning is logged if there is none.
     */
    private static Optional<WeightTrace> load(byte[] content, StoreKey key) throws IOException {
        Files.write(file, content);
        FolderStore<WeightTrace> store = FolderStore.at(FORMAT, folder, folder.resolve("cache"));
        try (LogCapture log = new LogCapture()) {
            Optional<WeightTrace> plan =
                    assertTimeoutPreemptively(HANGS_AFTER, () -> store.load(key));
            assertEquals(plan.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            return plan;
        }
    }

    private static void assertEqualOrRefused(WeightTrace expected, byte[] content)
            throws IOException {
        Optional<WeightTrace> plan = load(content, KEY);
        if (plan.isPresent()) {
            assertEquals(expected, plan.get());
        }
    }

    @Property(tries = 300)
    void saveLoad_anyPlanUnderAnyKey_isEqual(
            @ForAll("plans") WeightTrace plan, @ForAll("keys") StoreKey key) {
        try (LogCapture log = new LogCapture()) {
            FolderStore.at(FORMAT, folder, folder.resolve("cache")).save(key, plan);
            FolderStore<WeightTrace> other =
                    FolderStore.at(FORMAT, folder, folder.resolve("cache"));
            assertEquals(plan, other.load(key).orElseThrow());
            assertEquals(List.of(), log.lines());
        }
    }

    @Example
    void load_anyByteChanged_isEqualOrRefused() throws IOException {
        byte[] whole = FORMAT.toBytes(KEY, small());
        assertEquals(small(), load(whole, KEY).orElseThrow());
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
}
