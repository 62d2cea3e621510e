package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.util.Utils;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.ChangedWeights;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TmpFs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests faults of files and threads while ResNet-18 runs in a budget, in separate processes. The
 * result is an error with the reason, never a wrong output or a crash.
 */
@Tag("long")
@NeedsModels(RealModels.TORCHSCRIPT)
class TorchBudgetProcessTest {

    /** A budget in which the largest layers, of 9.4 MB, run whole. */
    private static final long UNSLICED = 64_000_000;

    /** A budget in which these layers run in slices. */
    private static final long SLICED = 47_000_000;

    private static final long SEED = 7;

    private static final String ENGINES = "ENGINE_CACHE_DIR";

    private static byte[] expected;

    /** The outputs of the sliced model, whose sums are added in another order. */
    private static byte[] sliced;

    @TempDir Path folder;

    private Path file;

    @BeforeAll
    static void askStockAndSliced(@TempDir Path folder) throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file("resnet18"), folder);
        try (ContestantProcess stock = loaded(Contestant.stock(1), file, folder)) {
            expected = stock.outputs(SEED);
        }
        try (ContestantProcess process =
                loaded(Contestant.budget(SLICED, "auto", 1), file, folder)) {
            assertTrue(process.report().contains("operators sliced"), process.report());
            sliced = process.outputs(SEED);
        }
    }

    @BeforeEach
    void copyModel() throws Exception {
        file = Torch.copy(RealModels.TORCHSCRIPT.file("resnet18"), folder);
    }

    private ContestantProcess start(Contestant contestant, Path model) throws Exception {
        return ContestantProcess.start(contestant, model, folder, Optional.empty());
    }

    private ContestantProcess loaded(Contestant contestant) throws Exception {
        return loaded(contestant, file, folder);
    }

    private static ContestantProcess loaded(Contestant contestant, Path file, Path folder)
            throws Exception {
        ContestantProcess process =
                ContestantProcess.start(contestant, file, folder, Optional.empty());
        try {
            assertTrue(process.loadNanos(file) > 0);
            return process;
        } catch (Exception | Error e) {
            process.close();
            throw e;
        }
    }

    /** djl-plan reads only its own file, which has no name that others could use. */
    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_archiveCutOffReplacedDeleted_usesTheOldWeights(String io) throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(UNSLICED, io, 1))) {
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.setLength(open.length() / 3);
            }
            assertArrayEquals(expected, process.outputs(SEED));
            Path other = Torch.copy(RealModels.TORCHSCRIPT.file("squeezenet1_1"), folder);
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            assertArrayEquals(expected, process.outputs(SEED));
            Files.delete(file);
            for (int i = 0; i < 4; i++) {
                assertArrayEquals(expected, process.outputs(SEED));
            }
        }
    }

    /** Sets DJL's cache folder, but not that of its engines' libraries. */
    private static Runnable useCache(Path cache) {
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

    /** DJL's cache folder has no room for the file of the weights. */
    @Test
    void load_diskFull_isAnErrorAndLeavesNothing() throws Exception {
        try (TmpFs small = TmpFs.mount(Files.createDirectory(folder.resolve("small")), "20m")) {
            Runnable undo = useCache(small.folder());
            try (ContestantProcess process = start(Contestant.budget(UNSLICED, "auto", 1), file)) {
                IOException e = assertThrows(IOException.class, () -> process.loadNanos(file));
                assertTrue(e.getMessage().contains("is not held inside its budget"), e.toString());
                assertEquals(List.of(), filesOf(small.folder(), 1 << 20));
                small.resize("100m");
                assertTrue(process.loadNanos(file) > 0);
                assertArrayEquals(expected, process.outputs(SEED));
            } finally {
                undo.run();
            }
        }
    }

    /**
     * There is no room for the sliced copy, neither beside the model nor in the cache folder. The
     * model's fingerprint may be stored.
     */
    @Test
    void load_diskFullForTheSlicedCopy_isNeverAWrongAnswer() throws Exception {
        Path mount = Files.createDirectory(folder.resolve("small"));
        try (TmpFs small = TmpFs.mount(mount, "60m")) {
            Path cramped = Files.copy(file, small.folder().resolve("resnet18.pt"));
            Runnable undo = useCache(small.folder().resolve("cache"));
            try (ContestantProcess process = start(Contestant.budget(SLICED, "auto", 1), cramped)) {
                assertThrows(IOException.class, () -> process.loadNanos(cramped));
                assertEquals(
                        List.of(cramped),
                        filesOf(small.folder(), 1).stream()
                                .filter(each -> !each.getParent().endsWith("fingerprints"))
                                .toList());
                small.resize("200m");
                assertTrue(process.loadNanos(cramped) > 0);
                assertArrayEquals(sliced, process.outputs(SEED));
            } finally {
                undo.run();
            }
        }
    }

    /** If a part of the archive is overwritten, its directory is unchanged. */
    @ParameterizedTest
    @EnumSource(ChangedWeights.Way.class)
    void load_otherWeights_runsThose(ChangedWeights.Way way) throws Exception {
        try (ContestantProcess first = loaded(Contestant.budget(SLICED, "auto", 1))) {
            assertArrayEquals(sliced, first.outputs(SEED));
        }
        TimeUnit.MILLISECONDS.sleep(2100);
        try (ContestantProcess later = loaded(Contestant.budget(SLICED, "auto", 1))) {
            assertArrayEquals(sliced, later.outputs(SEED));
        }
        ChangedWeights.change(file, 0.5, way);
        byte[] other;
        Path fresh = Torch.copy(file, folder);
        try (ContestantProcess process = start(Contestant.budget(SLICED, "auto", 1), fresh)) {
            assertTrue(process.loadNanos(fresh) > 0);
            other = process.outputs(SEED);
        }
        assertFalse(Arrays.equals(sliced, other));
        try (ContestantProcess stock = loaded(Contestant.stock(1))) {
            assertFalse(Arrays.equals(expected, stock.outputs(SEED)));
        }
        try (ContestantProcess second = loaded(Contestant.budget(SLICED, "auto", 1))) {
            assertTrue(second.report().contains("operators sliced"), second.report());
            assertArrayEquals(other, second.outputs(SEED));
        }
    }

    private static long copiesIn(Path folder) throws IOException {
        return filesOf(folder, 1).stream()
                .filter(made -> made.toString().endsWith(".sliced.pt"))
                .count();
    }

    private static List<Path> filesOf(Path folder, long leastBytes) throws IOException {
        try (Stream<Path> left = Files.walk(folder)) {
            return left.filter(Files::isRegularFile)
                    .filter(each -> each.toFile().length() >= leastBytes)
                    .toList();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20, 150})
    void load_afterOneWasKilledWhileSlicing_works(int millis) throws Exception {
        Path made = file.resolveSibling(".djlplan");
        try (ContestantProcess process = start(Contestant.budget(SLICED, "auto", 1), file)) {
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
        try (ContestantProcess next = loaded(Contestant.budget(SLICED, "auto", 1))) {
            assertArrayEquals(sliced, next.outputs(SEED));
            assertEquals(1, copiesIn(made), filesOf(made, 1).toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_loaderStandsStill_waitsAndAnswersAsStock(String io) throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(UNSLICED, io, 1))) {
            for (int i = 0; i < 6; i++) {
                assertArrayEquals(expected, process.outputs(SEED));
            }
            assertArrayEquals(expected, process.outputsBehindAFrozenLoader(SEED));
        }
    }
}
