package org.djlplan.integration.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.util.Utils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChangedWeights;
import org.djlplan.integration.support.TmpFs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests faults of files and threads while a model of any engine runs in a budget, in separate
 * processes. The result is an error with the reason, never a wrong output or a crash.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BudgetFaults {

    protected static final long SEED = 7;

    private static final String ENGINES = "ENGINE_CACHE_DIR";

    /** Files with weights are larger than this. */
    private static final long WEIGHTS_BYTES = 1_000_000;

    private final Path model;
    private final Path other;
    private final long budgetBytes;
    private final long wholeBytes;
    private byte[] stock = {};

    /** The outputs of the copy, in which sums may be added in another order. */
    private byte[] ofCopy = {};

    @TempDir protected Path folder;

    /** A copy of the model in a separate folder. */
    protected Path file;

    /**
     * @param other another model
     * @param budgetBytes a budget in which the model runs from a copy
     * @param wholeBytes a budget in which all layers run whole
     */
    protected BudgetFaults(Path model, Path other, long budgetBytes, long wholeBytes) {
        this.model = model;
        this.other = other;
        this.budgetBytes = budgetBytes;
        this.wholeBytes = wholeBytes;
    }

    @BeforeAll
    void askStock(@TempDir Path own) throws Exception {
        Path copy = Torch.copy(model, own);
        try (ContestantProcess process = loaded(Contestant.stock(1), copy, own)) {
            stock = process.outputs(SEED);
        }
        try (ContestantProcess process = loaded(inCopy(), copy, own)) {
            ofCopy = process.outputs(SEED);
        }
    }

    @BeforeEach
    void copyModel() throws Exception {
        file = Torch.copy(model, folder);
    }

    private Contestant inCopy() {
        return Contestant.budget(budgetBytes, "auto", 1);
    }

    private Contestant whole(String io) {
        return Contestant.budget(wholeBytes, io, 1);
    }

    protected ContestantProcess start(Contestant contestant, Path of) throws Exception {
        return ContestantProcess.start(contestant, of, folder, Optional.empty());
    }

    protected ContestantProcess loaded(Contestant contestant) throws Exception {
        return loaded(contestant, file, folder);
    }

    private static ContestantProcess loaded(Contestant contestant, Path of, Path folder)
            throws Exception {
        ContestantProcess process =
                ContestantProcess.start(contestant, of, folder, Optional.empty());
        try {
            assertTrue(process.loadNanos(of) > 0);
            return process;
        } catch (Exception | Error e) {
            process.close();
            throw e;
        }
    }

    protected void assertAsStock(ContestantProcess process) throws Exception {
        assertArrayEquals(stock, process.outputs(SEED));
    }

    protected void assertAsCopy(ContestantProcess process) throws Exception {
        assertArrayEquals(ofCopy, process.outputs(SEED));
    }

    /** Returns the files with weights that were made from the model. */
    protected List<Path> madeFiles() throws IOException {
        return filesOf(file.resolveSibling(".djlplan"), WEIGHTS_BYTES);
    }

    protected static List<Path> filesOf(Path folder, long leastBytes) throws IOException {
        try (Stream<Path> left = Files.walk(folder)) {
            return left.filter(Files::isRegularFile)
                    .filter(each -> each.toFile().length() >= leastBytes)
                    .toList();
        }
    }

    /** Sets DJL's cache folder, but not that of its engines' libraries. */
    protected static Runnable useCache(Path cache) {
        Optional<String> before = Optional.ofNullable(System.getProperty(ENGINES));
        System.setProperty(ENGINES, Utils.getEngineCacheDir().toString());
        Runnable undo = Torch.useCache(cache);
        return () -> {
            undo.run();
            before.ifPresentOrElse(
                    value -> System.setProperty(ENGINES, value),
                    () -> System.clearProperty(ENGINES));
        };
    }

    /** djl-plan reads only its own file. */
    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_modelReplacedDeleted_usesTheOldWeights(String io) throws Exception {
        try (ContestantProcess process = loaded(whole(io))) {
            Path copy = Torch.copy(other, folder);
            Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
            assertAsStock(process);
            Files.delete(file);
            for (int i = 0; i < 4; i++) {
                assertAsStock(process);
            }
        }
    }

    /** If a part of the file is overwritten, its directory is unchanged. */
    @ParameterizedTest
    @EnumSource(ChangedWeights.Way.class)
    void load_otherWeights_runsThose(ChangedWeights.Way way) throws Exception {
        try (ContestantProcess first = loaded(inCopy())) {
            assertAsCopy(first);
        }
        // The file must be old enough for its fingerprint to be stored.
        Await.until(() -> FileIdentity.of(file).isUnchangedSince(Instant.now()));
        try (ContestantProcess later = loaded(inCopy())) {
            assertAsCopy(later);
        }
        ChangedWeights.change(file, 0.5, way);
        byte[] changed;
        try (ContestantProcess fresh = loaded(inCopy(), Torch.copy(file, folder), folder)) {
            changed = fresh.outputs(SEED);
        }
        assertFalse(Arrays.equals(ofCopy, changed));
        try (ContestantProcess second = loaded(inCopy())) {
            assertArrayEquals(changed, second.outputs(SEED));
        }
    }

    /**
     * There is no room for a copy, neither beside the model nor in DJL's cache folder. The model's
     * fingerprint may be stored.
     */
    @Test
    void load_diskFullForTheCopy_isAnErrorAndLeavesNothing() throws Exception {
        long megabytes = Files.size(file) * 5 / 4 / 1_000_000;
        Path mount = Files.createDirectory(folder.resolve("small"));
        try (TmpFs small = TmpFs.mount(mount, megabytes + "m")) {
            Path cramped = Files.copy(file, small.folder().resolve(file.getFileName()));
            Runnable undo = useCache(small.folder().resolve("cache"));
            try (ContestantProcess process = start(inCopy(), cramped)) {
                assertThrows(IOException.class, () -> process.loadNanos(cramped));
                assertEquals(
                        List.of(cramped),
                        filesOf(small.folder(), 1).stream()
                                .filter(each -> !each.getParent().endsWith("fingerprints"))
                                .toList());
                small.resize("200m");
                assertTrue(process.loadNanos(cramped) > 0);
                assertAsCopy(process);
            } finally {
                undo.run();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20, 100})
    void load_afterOneWasKilledInTheMiddle_works(int millis) throws Exception {
        Path made = file.resolveSibling(".djlplan");
        try (ContestantProcess process = start(inCopy(), file)) {
            CompletableFuture<Void> loading =
                    CompletableFuture.runAsync(
                            () ->
                                    assertThrows(
                                            IOException.class,
                                            () -> process.predictUntilItEnds(file)));
            Await.until(() -> Files.isDirectory(made));
            TimeUnit.MILLISECONDS.sleep(millis);
            process.kill();
            loading.get();
        }
        try (ContestantProcess next = loaded(inCopy())) {
            assertAsCopy(next);
            assertEquals(1, madeFiles().size(), madeFiles().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_loaderStandsStill_waitsAndAnswersAsStock(String io) throws Exception {
        try (ContestantProcess process = loaded(whole(io))) {
            for (int i = 0; i < 6; i++) {
                assertAsStock(process);
            }
            assertArrayEquals(stock, process.outputsBehindAFrozenLoader(SEED));
        }
    }
}
