package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.planning.budget.StreamedCopies;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the memory needs that can be computed from a model's file alone, without an engine. */
class MemoryNeedsTest {

    private static final int FILE_BYTES = 1000;
    private static final PlanOptions OPTIONS =
            PlanOptions.parse(GivenOptions.of(Map.of(), Map.of(), Map.of(), List.of()));

    @TempDir Path folder;
    private Path model;
    private long besideBytes;
    private StreamedCopies copies;
    private MemoryNeeds needs;

    @BeforeEach
    void writeModel() throws IOException {
        model = Files.write(folder.resolve("no_model.tflite"), new byte[FILE_BYTES]);
        besideBytes = BudgetedInterpreter.bytesBesideArena(OPTIONS.threads());
        copies = copies();
        needs = new MemoryNeeds(model, OPTIONS, copies);
    }

    @AfterEach
    void close() {
        copies.close();
    }

    private StreamedCopies copies() throws IOException {
        return new StreamedCopies(model, OPTIONS.threads(), OPTIONS.budget(), folder);
    }

    /** The engine is not used, and not loaded here. */
    @Test
    void hasRoomForAll_budgetBelowTheFile_isFalse() throws Exception {
        assertFalse(needs.hasRoomForAll(FILE_BYTES + besideBytes - 1, 0));
        assertFalse(needs.hasRoomForAll(FILE_BYTES + besideBytes + 499, 500));
        assertEquals(0, needs.knownStockBytes());
    }

    @Test
    void hasRoomForAll_budgetOfTheFile_asksTheEngine() {
        assertThrows(
                UnplannableException.class, () -> needs.hasRoomForAll(FILE_BYTES + besideBytes, 0));
    }

    @Test
    void leastBytes_fileThatCannotBeStreamed_isTheFile() {
        assertEquals(FILE_BYTES + besideBytes, needs.leastBytes());
        assertEquals(FILE_BYTES, needs.fileBytes());
    }

    @Test
    void new_fileIsMissing_throws() throws IOException {
        Files.delete(model);
        assertThrows(IOException.class, this::copies);
    }
}
