package org.djlplan.integration.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how much a service slows down while another model is measured: predictions per second of
 * one busy thread, alone and beside the measuring process, in turns. Also reports the duration and
 * result of that measurement. Prints a table; asserts nothing, because machines are noisy.
 */
@Tag("bench")
class MeasuringGuestBench {

    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final Path QUOTAS = Path.of("/sys/fs/cgroup/cpu");
    private static final int WINDOWS = 9;
    private static final int SECONDS = 4;

    @TempDir private Path folder;

    @Test
    void print() throws Exception {
        List<String> oneCore = List.of("taskset", "-c", "0");
        System.out.printf("%-44s %10s %10s %8s%n", "", "alone", "measuring", "ratio");
        throughput("one core, usual priority", oneCore, Urgency.AWAITED);
        throughput("one core, in the background", oneCore, Urgency.IN_BACKGROUND);
        Path group = QUOTAS.resolve("djlplan-bench-" + ProcessHandle.current().pid());
        try {
            Files.createDirectories(group);
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "100000");
            List<String> inside =
                    List.of("sh", "-c", "echo $$ > " + group + "/cgroup.procs; exec \"$@\"", "sh");
            throughput("quota of one core, usual priority", inside, Urgency.AWAITED);
            throughput("quota of one core, in the background", inside, Urgency.IN_BACKGROUND);
        } catch (IOException e) {
            System.out.println("no cgroup with a quota can be made here: " + e);
        } finally {
            Files.deleteIfExists(group);
        }
        choose("choice while the core is idle", oneCore, false);
        choose("choice while the core is busy", oneCore, true);
    }

    private Started service(List<String> before, String... arguments) throws Exception {
        List<String> jvm =
                List.of("-cp", System.getProperty("java.class.path"), Service.class.getName());
        return Started.run(folder, before, JAVA, jvm, List.of(arguments));
    }

    private void throughput(String name, List<String> before, Urgency urgency) throws Exception {
        Started run =
                service(
                        before,
                        "throughput",
                        urgency.name(),
                        Integer.toString(WINDOWS),
                        Integer.toString(SECONDS));
        List<double[]> windows = new ArrayList<>();
        for (String line : run.out().lines().toList()) {
            windows.add(Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray());
        }
        if (windows.isEmpty()) {
            System.out.println(name + ": " + run);
            return;
        }
        System.out.printf(
                Locale.ROOT,
                "%-44s %8.1f/s %8.1f/s %8.3f%n",
                name,
                median(windows.stream().mapToDouble(w -> w[0]).toArray()),
                median(windows.stream().mapToDouble(w -> w[1]).toArray()),
                median(windows.stream().mapToDouble(w -> w[1] / w[0]).toArray()));
    }

    private void choose(String name, List<String> before, boolean busy) throws Exception {
        Started run = service(before, "choose", folder.toString(), Boolean.toString(busy));
        System.out.println(name + ": " + (run.exitCode() == 0 ? run.out().strip() : run));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
