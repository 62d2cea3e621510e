package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.ChangedWeights;
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
 * Tests faults of files and threads while a model runs in a budget, in separate processes. The
 * result is an error with the reason, never a wrong output or a crash.
 */
@Tag("long")
class BudgetFaultsTest {

    private static final long BUDGET_BYTES = 20_000_000;

    /** Files with weights are larger than this. */
    private static final long WEIGHTS_BYTES = 1_000_000;

    private static final long SEED = 7;

    private static byte[] expected;

    @TempDir Path folder;

    private Path file;

    @BeforeAll
    static void askStock(@TempDir Path folder) throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        try (ContestantProcess stock = loaded(Contestant.stock(1), file, folder)) {
            expected = stock.outputs(SEED);
        }
    }

    @BeforeEach
    void copyModel() throws Exception {
        file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
    }

    private ContestantProcess start(Contestant contestant) throws Exception {
        return ContestantProcess.start(contestant, file, folder, Optional.empty());
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

    /** Returns the files with weights that were made from the model. */
    private List<Path> madeFiles() throws IOException {
        try (Stream<Path> files = Files.walk(file.resolveSibling(".djlplan"))) {
            return files.filter(Files::isRegularFile)
                    .filter(made -> made.toFile().length() >= WEIGHTS_BYTES)
                    .toList();
        }
    }

    /** Truncates a file in place, and restores it when closed. */
    private static final class CutOff implements AutoCloseable {

        private final Path file;
        private final byte[] content;
        private final FileTime modified;

        CutOff(Path file) throws IOException {
            this.file = file;
            content = Files.readAllBytes(file);
            modified = Files.getLastModifiedTime(file);
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.setLength(content.length / 3);
            }
        }

        @Override
        public void close() throws IOException {
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.write(content);
            }
            Files.setLastModifiedTime(file, modified);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void predict_fileOfWeightsCutOff_isAnErrorUntilItIsWhole(String io) throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(BUDGET_BYTES, io, 1))) {
            assertArrayEquals(expected, process.outputs(SEED));
            assertFalse(madeFiles().isEmpty());
            List<CutOff> cuts = new ArrayList<>();
            for (Path made : madeFiles()) {
                cuts.add(new CutOff(made));
            }
            IOException e = assertThrows(IOException.class, () -> process.outputs(SEED));
            assertTrue(e.getMessage().contains("TranslateException"), e.getMessage());
            assertThrows(IOException.class, () -> process.outputs(SEED));
            for (CutOff cut : cuts) {
                cut.close();
            }
            assertArrayEquals(expected, process.outputs(SEED));
        }
    }

    /** djl-plan reads only its own copy. */
    @Test
    void predict_modelReplaced_usesTheOldWeights() throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            Path other = Files.copy(BudgetModels.SMALL_RESNET.file(), folder.resolve("other"));
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            assertArrayEquals(expected, process.outputs(SEED));
            Files.delete(file);
            assertArrayEquals(expected, process.outputs(SEED));
        }
    }

    /** The result is an error or the right output; the process never ends. */
    @Test
    void predict_modelCutOff_isNeverAWrongAnswer() throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(BUDGET_BYTES, "mmap", 1))) {
            try (CutOff cut = new CutOff(file)) {
                assertTrue(answersOrFails(process), cut.file + " was cut off");
            }
            assertArrayEquals(expected, process.outputs(SEED));
        }
    }

    private boolean answersOrFails(ContestantProcess process) throws Exception {
        try {
            assertArrayEquals(expected, process.outputs(SEED));
            return true;
        } catch (IOException e) {
            return e.getMessage().contains("TranslateException");
        }
    }

    @Test
    void load_otherModelUnderTheSameName_runsTheOther() throws Exception {
        try (ContestantProcess first = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, first.outputs(SEED));
        }
        Files.copy(BudgetModels.SMALL_RESNET.file(), file, StandardCopyOption.REPLACE_EXISTING);
        byte[] other;
        try (ContestantProcess stock = loaded(Contestant.stock(1))) {
            other = stock.outputs(SEED);
        }
        try (ContestantProcess second = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(other, second.outputs(SEED));
        }
    }

    /** Only a small part of the weights differs. */
    @ParameterizedTest
    @EnumSource(ChangedWeights.Way.class)
    void load_otherWeights_runsThose(ChangedWeights.Way way) throws Exception {
        try (ContestantProcess first = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, first.outputs(SEED));
        }
        // The file must be old enough for its fingerprint to be stored.
        TimeUnit.MILLISECONDS.sleep(2100);
        try (ContestantProcess later = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, later.outputs(SEED));
        }
        ChangedWeights.change(file, 0.9, way);
        byte[] other;
        try (ContestantProcess stock = loaded(Contestant.stock(1))) {
            other = stock.outputs(SEED);
        }
        assertFalse(Arrays.equals(expected, other));
        try (ContestantProcess second = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(other, second.outputs(SEED));
        }
    }

    @Test
    void load_copyDamagedSince_makesItAnew() throws Exception {
        try (ContestantProcess first = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, first.outputs(SEED));
        }
        for (Path made : madeFiles()) {
            try (RandomAccessFile open = new RandomAccessFile(made.toFile(), "rw")) {
                open.setLength(open.length() - 1);
            }
        }
        try (ContestantProcess second = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, second.outputs(SEED));
        }
    }

    /**
     * There is no room for a copy, neither beside the model nor in DJL's cache folder. The model's
     * fingerprint may be stored.
     */
    @Test
    void load_diskFull_isAnErrorAndLeavesNothing() throws Exception {
        try (TmpFs small = TmpFs.mount(Files.createDirectory(folder.resolve("small")), "30m")) {
            Path cramped = small.folder().resolve("model.tflite");
            Files.copy(file, cramped);
            Runnable undo = Torch.useCache(small.folder().resolve("cache"));
            try (ContestantProcess process =
                    ContestantProcess.start(
                            Contestant.budget(BUDGET_BYTES, "auto", 1),
                            cramped,
                            folder,
                            Optional.empty())) {
                IOException e = assertThrows(IOException.class, () -> process.loadNanos(cramped));
                assertTrue(e.getMessage().contains("No space left"), e.getMessage());
                try (Stream<Path> left = Files.walk(small.folder())) {
                    assertEquals(
                            List.of(),
                            left.filter(Files::isRegularFile)
                                    .filter(each -> !each.equals(cramped))
                                    .filter(each -> !each.getParent().endsWith("fingerprints"))
                                    .filter(each -> each.toFile().length() > 0)
                                    .toList());
                }
                small.resize("100m");
                assertTrue(process.loadNanos(cramped) > 0);
                assertArrayEquals(expected, process.outputs(SEED));
            } finally {
                undo.run();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5, 20, 80})
    void load_afterOneWasKilledInTheMiddle_works(int millis) throws Exception {
        Path made = file.resolveSibling(".djlplan");
        try (ContestantProcess process = start(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
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
        try (ContestantProcess next = loaded(Contestant.budget(BUDGET_BYTES, "auto", 1))) {
            assertArrayEquals(expected, next.outputs(SEED));
        }
        assertEquals(
                List.of(),
                madeFiles().stream().filter(each -> each.toString().endsWith(".tmp")).toList());
    }

    @Test
    void predict_loaderStandsStill_waitsAndAnswersAsStock() throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(BUDGET_BYTES, "direct", 1))) {
            assertArrayEquals(expected, process.outputs(SEED));
            assertArrayEquals(expected, process.outputsBehindAFrozenLoader(SEED));
        }
    }
}
