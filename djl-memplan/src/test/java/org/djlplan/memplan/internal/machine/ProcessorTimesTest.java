package org.djlplan.memplan.internal.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessorTimesTest {

    private static final long TICK = 10_000_000;

    private static final String STAT =
            "cpu  1 1 1 1 1 1 1 1 0 0\n"
                    + "cpu0 100 20 30 4000 50 6 7 8 9 10\n"
                    + "cpu1 9 9 9 9 9 9 9 9 0 0\n"
                    + "cpu2 1 0 0 500 0 0 0 0 0 0\n"
                    + "intr 5 0 0\n";

    private static final String SELF =
            "12 (a (\u00e9) c) S 1 1 1 0 -1 0 10 0 0 0 300 45 0 0 20 0 1 0 5 6 7\n";

    @TempDir private Path root;

    private void write(String path, String text) throws IOException {
        Path file = root.resolve("proc").resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** Nice and stolen time counts; idle time and time spent waiting for a disk do not. */
    @Test
    void read_someProcessorsAllowed_countsThose() throws Exception {
        write("stat", STAT);
        write("self/stat", SELF);
        write("self/status", "Name:\ta\nCpus_allowed:\t5\nCpus_allowed_list:\t0,2-3\n");
        assertEquals(
                Optional.of(
                        new ProcessorTimes.Reading(
                                (100 + 20 + 30 + 6 + 7 + 8 + 1) * TICK, 345 * TICK, 2)),
                new ProcessorTimes(root).read());
    }

    @Test
    void read_missingEmptyOrOddFiles_isEmpty() throws Exception {
        ProcessorTimes times = new ProcessorTimes(root);
        assertEquals(Optional.empty(), times.read());
        write("self/status", "Name:\ta\n");
        write("self/stat", SELF);
        write("stat", STAT);
        assertEquals(Optional.empty(), times.read(), "which processors are allowed is not said");
        write("self/status", "Cpus_allowed_list:\t0-3\n");
        write("stat", "cpu0 x\n");
        assertEquals(Optional.empty(), times.read());
        write("stat", "cpu0 0 0 0 0 0 0 0 0 0 0\n");
        assertEquals(Optional.empty(), times.read(), "nothing is counted");
        write("stat", STAT);
        write("self/stat", "");
        assertEquals(Optional.empty(), times.read());
        write("self/stat", SELF);
        assertTrue(times.read().isPresent());
    }

    @Test
    void read_thisMachine_ownTimeIsPartOfTheBusyTime() {
        ProcessorTimes times = new ProcessorTimes();
        Optional<ProcessorTimes.Reading> before = times.read();
        assertTrue(before.isPresent(), "Linux tells");
        Await.until(
                () -> {
                    // Reading takes processor time, too, which the system counts in hundredths of a
                    // second.
                    for (int i = 0; i < 100; i++) {
                        times.read();
                    }
                    ProcessorTimes.Reading after = times.read().orElseThrow();
                    return after.ownNanos() > before.get().ownNanos()
                            && after.busyNanos() > before.get().busyNanos();
                });
        assertTrue(before.get().processors() >= Runtime.getRuntime().availableProcessors());
    }
}
