package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.djlplan.integration.budget.BudgetFaults;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TmpFs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
@NeedsModels(RealModels.TORCHSCRIPT)
class TorchBudgetProcessTest extends BudgetFaults {

    /** A budget in which the largest layers, of 9.4 MB, run in slices. */
    private static final long SLICED = 47_000_000;

    private static final long UNSLICED = 64_000_000;

    TorchBudgetProcessTest() {
        super(
                RealModels.TORCHSCRIPT.file("resnet18"),
                RealModels.TORCHSCRIPT.file("squeezenet1_1"),
                SLICED,
                UNSLICED);
    }

    @Test
    void load_slicedOrNot_saysSo() throws Exception {
        try (ContestantProcess process = loaded(Contestant.budget(SLICED, "auto", 1))) {
            assertTrue(process.report().contains("operators sliced"), process.report());
            assertAsCopy(process);
        }
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
                assertAsStock(process);
            } finally {
                undo.run();
            }
        }
    }
}
