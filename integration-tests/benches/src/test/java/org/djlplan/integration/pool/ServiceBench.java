package org.djlplan.integration.pool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.djlplan.integration.pool.ServiceApplication.Figures;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares settings that a careful engineer could choose for a service (no delegation, fixed
 * numbers of threads and interpreters) with the defaults: throughput and latency under different
 * loads, and the first predictions of fresh JVMs. Prints tables; asserts nothing, because machines
 * are noisy.
 */
@Tag("bench")
class ServiceBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 2);
    private static final int SLICE_MILLIS = Integer.getInteger("djlplan.bench.slice", 1800);

    /** Longer than it takes to know that the machine is quiet. */
    private static final int WARM_UP_MILLIS = Integer.getInteger("djlplan.bench.warmUp", 1600);

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 20);

    /** Pauses between the load and the first prediction; measuring begins during the longer one. */
    private static final ImmutableList<String> PAUSES_SECONDS =
            ImmutableList.copyOf(System.getProperty("djlplan.bench.pauses", "0,3").split(",", -1));

    private static final int[] THREADS = {1, 2, 4, 8};

    private static final ImmutableList<String> MODELS =
            ImmutableList.copyOf(
                    System.getProperty("djlplan.bench.models", "hand_landmark_full,onet")
                            .split(",", -1));

    private static final String OFF = "delegation off";
    private static final String OURS = "ours";

    private static final ImmutableMap<String, List<String>> SETTINGS =
            ImmutableMap.<String, List<String>>builder()
                    .put(OFF, List.of("delegation.enabled=false"))
                    .put("1 thread x 1", fixed(1, 1))
                    .put("1 thread x 2", fixed(1, 2))
                    .put("2 threads x 1", fixed(2, 1))
                    .put("2 threads x 2", fixed(2, 2))
                    .put(OURS, List.of("delegation.profile=blocking"))
                    .build();

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir private Path folder;

    private int points;
    private int asFast;
    private int asEven;
    private int notSlowerThanOff;

    private static List<String> fixed(int threads, int interpreters) {
        return List.of(
                "delegation.profile=blocking",
                "memplan.threads=" + threads,
                "memplan.workers=" + interpreters);
    }

    /** A JVM that serves with one setting, idle except when it is asked to predict. */
    private record Child(Process process, BufferedReader out) implements AutoCloseable {

        Figures slice(int threads) throws IOException {
            String order = threads + " " + WARM_UP_MILLIS + " " + SLICE_MILLIS + "\n";
            process.getOutputStream().write(order.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            return Figures.of(Optional.ofNullable(out.readLine()).orElse("0 0 0"));
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    @Test
    void printLoads() throws Exception {
        for (String model : MODELS) {
            Path file = copy(model);
            Map<String, Child> children = new LinkedHashMap<>();
            try {
                for (Map.Entry<String, List<String>> setting : SETTINGS.entrySet()) {
                    Child child = start(file, "serve", setting.getValue());
                    children.put(setting.getKey(), child);
                    // The delegation is measured once for each number of threads, and stored.
                    print("%s, %s: %s%n", model, setting.getKey(), child.out().readLine());
                }
                print(model, "alone", children);
                Process neighbour = busyNeighbour();
                try {
                    print(model, "beside a busy process", children);
                } finally {
                    neighbour.destroyForcibly();
                }
            } finally {
                children.values().forEach(Child::close);
            }
        }
        print(
                "%nof %d points: at least .97 of the best throughput of the fixed settings %d, p99 at most"
                        + " 1.1 times theirs %d, at least delegation off's throughput %d%n",
                points, asFast, asEven, notSlowerThanOff);
    }

    /** Returns a process that ends with this JVM. */
    private static Process busyNeighbour() throws IOException {
        return new ProcessBuilder(
                        "sh",
                        "-c",
                        "while kill -0 $PPID; do i=0;"
                                + " while [ $i -lt 100000 ]; do i=$((i+1)); done; done")
                .start();
    }

    private void print(String model, String load, Map<String, Child> children) throws IOException {
        print(
                "%n%s, %s%n%-7s %-15s %10s %9s %9s%n",
                model, load, "threads", "setting", "per second", "p50 ms", "p99 ms");
        for (int threads : THREADS) {
            Map<String, List<Figures>> all = new LinkedHashMap<>();
            children.keySet().forEach(setting -> all.put(setting, new ArrayList<>()));
            List<String> order = List.copyOf(children.keySet());
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < order.size(); i++) {
                    String setting = order.get((i + round) % order.size());
                    all.get(setting).add(children.get(setting).slice(threads));
                }
            }
            Map<String, Figures> medians = new LinkedHashMap<>();
            all.forEach((setting, figures) -> medians.put(setting, median(figures)));
            print(threads, medians);
        }
    }

    private void print(int threads, Map<String, Figures> medians) {
        Figures ours = medians.get(OURS);
        Figures off = medians.get(OFF);
        Figures best = off;
        for (Map.Entry<String, Figures> each : medians.entrySet()) {
            Figures figures = each.getValue();
            print(
                    "%-7d %-15s %10.1f %9.2f %9.2f",
                    threads,
                    each.getKey(),
                    figures.perSecond(),
                    figures.medianMillis(),
                    figures.p99Millis());
            if (!each.getKey().equals(OURS)) {
                best = figures.perSecond() > best.perSecond() ? figures : best;
                print("%n");
            }
        }
        double speed = ours.perSecond() / best.perSecond();
        double tail = ours.p99Millis() / best.p99Millis();
        double gain = ours.perSecond() / off.perSecond();
        print("  / best %.3f, its p99 %.2f, / off %.2f%n", speed, tail, gain);
        points++;
        asFast += speed >= 0.97 ? 1 : 0;
        asEven += tail <= 1.1 ? 1 : 0;
        notSlowerThanOff += gain >= 1 ? 1 : 0;
    }

    private static Figures median(List<Figures> all) {
        return new Figures(
                median(all, Figures::perSecond),
                median(all, Figures::medianMillis),
                median(all, Figures::p99Millis));
    }

    private static double median(List<Figures> all, ToDoubleFunction<Figures> figure) {
        return median(all.stream().mapToDouble(figure).toArray());
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Predicts with and without a stored choice, at once and some seconds after the load. */
    @Test
    void printFirstPredictions() throws Exception {
        for (String model : MODELS) {
            Path kept = copy(model);
            double[] unused = first(kept, "0", SETTINGS.get(OURS));
            for (String pause : PAUSES_SECONDS) {
                Map<String, List<double[]>> all = new LinkedHashMap<>();
                for (int i = 0; i < FRESH; i++) {
                    add(all, "stock", first(kept, pause, List.of("stock=true")));
                    add(all, "kept", first(kept, pause, List.of("delegation.enabled=true")));
                    // No results are stored for a copy.
                    Path fresh = copy(model);
                    add(all, "nothing", first(fresh, pause, List.of("delegation.enabled=true")));
                }
                printFirst(model, pause, all);
            }
        }
    }

    /**
     * Prints the first minute of a fresh application on one thread, alone and beside a busy
     * process: what serves when, and how long predictions take. Also draws {@code
     * target/first-minute.svg}.
     */
    @Test
    void printFirstMinute() throws Exception {
        String model = MODELS.get(0);
        Map<String, List<String>> panels = new LinkedHashMap<>();
        for (boolean busy : new boolean[] {false, true}) {
            String load = model + (busy ? ", beside a busy process" : ", alone");
            Process neighbour = busy ? busyNeighbour() : null;
            try {
                panels.put(load + ": stock", minute(copy(model), "stock=true"));
                panels.put(load + ": the one line", minute(copy(model), "delegation.enabled=true"));
            } finally {
                if (busy) {
                    neighbour.destroyForcibly();
                }
            }
        }
        panels.forEach(ServiceBench::printMinute);
        Files.writeString(Path.of("target", "first-minute.svg"), FirstMinute.svg(panels));
    }

    private List<String> minute(Path file, String option) throws IOException {
        try (Child child = start(file, "minute", List.of(option))) {
            return child.out().lines().toList();
        }
    }

    private static void printMinute(String title, List<String> lines) {
        print(
                "%n%s%n%8s %6s %9s %9s  %s%n",
                title, "from s", "count", "p50 ms", "max ms", "serves");
        Map<String, List<Double>> phases = new LinkedHashMap<>();
        Map<String, String> begins = new LinkedHashMap<>();
        for (String line : lines) {
            String[] parts = line.split(" ", 3);
            begins.putIfAbsent(parts[2], parts[0]);
            phases.computeIfAbsent(parts[2], key -> new ArrayList<>())
                    .add(Double.parseDouble(parts[1]));
        }
        phases.forEach(
                (phase, millis) ->
                        print(
                                "%8.1f %6d %9.2f %9.2f  %s%n",
                                Double.parseDouble(begins.get(phase)),
                                millis.size(),
                                median(millis.stream().mapToDouble(m -> m).toArray()),
                                millis.stream().mapToDouble(m -> m).max().orElseThrow(),
                                FirstMinute.phase(phase)));
    }

    private static void add(Map<String, List<double[]>> all, String mode, double[] millis) {
        all.computeIfAbsent(mode, key -> new ArrayList<>()).add(millis);
    }

    private static void printFirst(String model, String pause, Map<String, List<double[]>> all) {
        print(
                "%n%s: first predictions of %d JVMs, %s s after the load; medians%n"
                        + "%-8s %10s %10s %8s %10s %8s%n",
                model, FRESH, pause, "", "stock ms", "kept ms", "/ stock", "nothing ms", "/ stock");
        int last = all.get("stock").get(0).length;
        for (int i = 0; i < last; i++) {
            double stock = at(all.get("stock"), i);
            double kept = at(all.get("kept"), i);
            double nothing = at(all.get("nothing"), i);
            print(
                    "%-8d %10.2f %10.2f %8.3f %10.2f %8.3f%n",
                    i + 1, stock, kept, kept / stock, nothing, nothing / stock);
        }
    }

    private static double at(List<double[]> all, int position) {
        return median(all.stream().mapToDouble(millis -> millis[position]).toArray());
    }

    private double[] first(Path file, String pause, List<String> options) throws IOException {
        try (Child child = start(file, pause, options)) {
            String line = child.out().readLine();
            if (line == null) {
                throw new IOException("no predictions: " + options);
            }
            return Arrays.stream(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
        }
    }

    private Path copy(String model) throws IOException {
        Path file = RealModels.TFLITE.file(model);
        Path own = Files.createTempDirectory(folder, model);
        return Files.copy(file, own.resolve(file.getFileName()));
    }

    private Child start(Path file, String mode, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.addAll(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-Dai.djl.offline=true",
                        "-Dai.djl.tflite.disable_alternative=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DDJL_CACHE_DIR=" + folder,
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServiceApplication.class.getName(),
                        file.toString(),
                        mode));
        command.addAll(options);
        Process process =
                new ProcessBuilder(command)
                        .redirectError(folder.resolve("errors").toFile())
                        .start();
        return new Child(process, process.inputReader(StandardCharsets.UTF_8));
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
