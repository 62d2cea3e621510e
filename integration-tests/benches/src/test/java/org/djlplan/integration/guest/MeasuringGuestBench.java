package org.djlplan.integration.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.bench.Turns;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how much a service slows down while another model is measured: predictions per second of
 * one busy thread, alone and beside the measuring process, in turns. Also reports the duration and
 * result of that measurement. {@code -Ddjlplan.bench.seconds=N} sets how long each turn takes.
 */
@Tag("bench")
class MeasuringGuestBench {

    private static final Path QUOTAS = Path.of("/sys/fs/cgroup/cpu");
    private static final String WINDOWS = System.getProperty("djlplan.bench.rounds", "9");
    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "4");

    @TempDir private Path folder;

    private static Way way(String name, List<String> before, String... arguments) {
        return Way.of(name, Service.class, arguments).jvm(jvm -> jvm.before(before));
    }

    private void throughput(String name, List<String> before) throws Exception {
        try (Turns turns = new Turns(folder, 1)) {
            turns.compare(
                    name,
                    List.of(
                            way(
                                    "usual",
                                    before,
                                    "throughput",
                                    "" + Urgency.AWAITED,
                                    WINDOWS,
                                    SECONDS),
                            way(
                                    "in the background",
                                    before,
                                    "throughput",
                                    "" + Urgency.IN_BACKGROUND,
                                    WINDOWS,
                                    SECONDS)));
        }
    }

    @Test
    void print() throws Exception {
        List<String> oneCore = List.of("taskset", "-c", "0");
        throughput("one core", oneCore);
        Path group = QUOTAS.resolve("djlplan-bench-" + ProcessHandle.current().pid());
        try {
            Files.createDirectories(group);
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "100000");
            throughput(
                    "quota of one core",
                    List.of("sh", "-c", "echo $$ > " + group + "/cgroup.procs; exec \"$@\"", "sh"));
        } catch (IOException e) {
            System.out.println("no cgroup with a quota can be made here: " + e);
        } finally {
            Files.deleteIfExists(group);
        }
        try (Turns turns = new Turns(folder, 1)) {
            turns.compare(
                    "choice",
                    List.of(
                            way("idle core", oneCore, "choose", folder.toString(), "false"),
                            way("busy core", oneCore, "choose", folder.toString(), "true")));
        }
    }
}
