package org.djlplan.memplan.internal.planning.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CopyProgressTest {

    private static final Duration OFTEN = Duration.ofMillis(5);

    @TempDir Path folder;

    @Test
    void copy_whileWritten_logsPercentAndEnd() throws Exception {
        Path file = folder.resolve("copy");
        try (LogCapture log = new LogCapture();
                CopyProgress progress = new CopyProgress("net", OFTEN)) {
            progress.finish();
            assertEquals(List.of(), log.lines(), "nothing was made");
            progress.begin(file, 8_000_000);
            Files.write(file, new byte[2_000_000]);
            Await.until(() -> told(log, "net: 25 % of the copy is written"));
            progress.expect(4_000_000);
            Await.until(() -> told(log, "net: 50 % of the copy is written"));
            progress.finish();
            assertTrue(told(log, "net: the copy is made, in "), log.lines().toString());
        }
    }

    private static boolean told(LogCapture log, String text) {
        return log.ours("INFO").stream().anyMatch(line -> line.contains(text));
    }
}
