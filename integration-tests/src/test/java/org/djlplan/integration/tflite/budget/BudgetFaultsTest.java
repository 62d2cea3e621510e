package org.djlplan.integration.tflite.budget;

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
import java.util.List;
import org.djlplan.integration.budget.BudgetFaults;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.BudgetModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class BudgetFaultsTest extends BudgetFaults {

    private static final long BUDGET_BYTES = 20_000_000;

    BudgetFaultsTest() {
        super(
                BudgetModels.SMALL_VGG.file(),
                BudgetModels.SMALL_RESNET.file(),
                BUDGET_BYTES,
                BUDGET_BYTES);
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
            assertAsStock(process);
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
            assertAsStock(process);
        }
    }

    /** The result is an error or the right output; the process never ends. */
    @Test
    void predict_modelCutOff_isNeverAWrongAnswer() throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(BUDGET_BYTES, "mmap", 1))) {
            try (CutOff cut = new CutOff(file)) {
                assertTrue(answersOrFails(process), cut.file + " was cut off");
            }
            assertAsStock(process);
        }
    }

    private boolean answersOrFails(ContestantProcess process) throws Exception {
        try {
            assertAsStock(process);
            return true;
        } catch (IOException e) {
            return e.getMessage().contains("TranslateException");
        }
    }

    @Test
    void load_otherModelUnderTheSameNameOrCopyDamaged_makesItAnew() throws Exception {
        Contestant budget = Contestant.budget(BUDGET_BYTES, "auto", 1);
        Path model = Files.copy(file, folder.resolve("model"));
        Files.copy(BudgetModels.SMALL_RESNET.file(), file, StandardCopyOption.REPLACE_EXISTING);
        loaded(budget).close();
        Files.copy(model, file, StandardCopyOption.REPLACE_EXISTING);
        try (ContestantProcess process = loaded(budget)) {
            assertAsStock(process);
        }
        for (Path made : madeFiles()) {
            try (RandomAccessFile open = new RandomAccessFile(made.toFile(), "rw")) {
                open.setLength(open.length() - 1);
            }
        }
        try (ContestantProcess process = loaded(budget)) {
            assertAsStock(process);
        }
    }
}
