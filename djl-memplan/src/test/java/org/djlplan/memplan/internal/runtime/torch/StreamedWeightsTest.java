package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.WeightIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamedWeightsTest {

    @TempDir private Path folder;
    private StreamedWeights weights;
    private TorchArenas arenas;

    @BeforeEach
    void load() throws IOException {
        WeightFile file = WeightFile.create(folder, 1 << 20);
        file.beginLoad();
        file.endLoad();
        arenas =
                new TorchArenas(
                        Optional.empty(),
                        new ArenaPool(),
                        true,
                        problem -> {
                            throw new AssertionError(problem);
                        });
        Budget budget = new Budget.Bytes(1 << 30);
        weights =
                new StreamedWeights(
                        "model",
                        new BudgetResolver(budget, 1),
                        new BudgetOptions(budget, OptionalLong.empty(), false, WeightIo.MMAP),
                        file,
                        0,
                        Map::of);
    }

    @AfterEach
    void close() {
        arenas.close();
        weights.close();
    }

    private int passOnOtherThread() throws Exception {
        FutureTask<Integer> pass =
                new FutureTask<>(
                        () -> {
                            weights.beginOneOff(arenas).orElseThrow().end(0, false);
                            return 1;
                        });
        new Thread(pass).start();
        return pass.get(30, TimeUnit.SECONDS);
    }

    @Test
    void begin_fails_leavesTheTurnToOthers() throws Exception {
        assertThrows(NullPointerException.class, () -> weights.begin(null, arenas));
        assertEquals(1, passOnOtherThread());
    }

    @Test
    void beginOneOff_ended_leavesTheTurnToOthers() throws Exception {
        StreamedWeights.Turn outer = weights.beginOneOff(arenas).orElseThrow();
        assertEquals(Optional.empty(), weights.beginOneOff(arenas));
        outer.end(0, false);
        assertEquals(1, passOnOtherThread());
    }
}
