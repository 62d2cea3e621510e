package org.djlplan.integration.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.lifecycle.EndingProgram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts the exit codes of JVMs that get SIGTERM at a random time during predictions, planned and
 * stock in turns. The expected code is 143; 134 and 139 are crashes. Asserts nothing.
 */
@Tag("bench")
class TerminationBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 50);
    private static final int MOST_DELAY_MILLIS = 1000;
    private static final long LOOK_MILLIS = 20;

    @TempDir private Path folder;

    @Test
    void printExitCodes() throws Exception {
        Map<String, Map<Integer, Integer>> codes = new TreeMap<>();
        Map<String, Long> longestMillis = new TreeMap<>();
        Path model = Files.createDirectory(folder.resolve("model")).resolve("minilm.pt");
        Files.copy(RealModels.TORCHSCRIPT.file("minilm"), model);
        Random random = new Random(1);
        for (int round = 0; round < ROUNDS; round++) {
            for (String mode : new String[] {"planned", "stock"}) {
                ChildJvm.Running jvm =
                        new ChildJvm(folder)
                                .small()
                                .start(EndingProgram.class, mode, "text", model.toString(), "1");
                awaitPredictions(jvm);
                Thread.sleep(random.nextInt(MOST_DELAY_MILLIS));
                long since = System.nanoTime();
                jvm.process().destroy();
                int code = jvm.result().exitCode();
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
                codes.computeIfAbsent(mode, any -> new TreeMap<>()).merge(code, 1, Integer::sum);
                longestMillis.merge(mode, millis, Math::max);
            }
            System.out.printf("%d rounds: %s, longest %s ms%n", round + 1, codes, longestMillis);
        }
    }

    private static void awaitPredictions(ChildJvm.Running jvm)
            throws IOException, InterruptedException {
        while (jvm.process().isAlive()
                && !Files.readString(jvm.out()).contains(EndingProgram.READY)) {
            Thread.sleep(LOOK_MILLIS);
        }
    }
}
