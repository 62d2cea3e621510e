package org.djlplan.integration.pool;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.pool.PoolApplication.Run;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures alternatives to djl-plan: environment variables of the C library, other allocators, a
 * semaphore around predictions, and the same network in ONNX Runtime. Each run has its own JVM, in
 * turns. Needs Debian's libjemalloc2 and libmimalloc2.0, and {@code resnet50.onnx} from {@code
 * torchscript_models.py}; cases without their file are skipped. Asserts nothing, because machines
 * are noisy.
 */
@Tag("bench")
@Tag("djl-current")
class AllocatorsBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.fresh", 2);
    private static final Path LIBRARIES = Path.of("/usr/lib/x86_64-linux-gnu");
    private static final String KEEP_BYTES = Long.toString(1L << 30);
    private static final double MEGA = 1e6;

    /** The jars of DJL's engine for ONNX Runtime, which tests start JVMs with. */
    private static final List<Path> ONNX_RUNTIME =
            Stream.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")
                    .map(Path.of("downloads", "target", "onnxruntime")::resolve)
                    .toList();

    private record Way(String label, String mode, Map<String, String> environment) {}

    private static final Map<String, String> TUNED =
            Map.of(
                    "MALLOC_MMAP_THRESHOLD_", KEEP_BYTES,
                    "MALLOC_TRIM_THRESHOLD_", KEEP_BYTES);

    private static final List<Way> WAYS =
            List.of(
                    new Way("stock", "stock", Map.of()),
                    new Way("MALLOC_ARENA_MAX=2", "stock", Map.of("MALLOC_ARENA_MAX", "2")),
                    new Way("tuned glibc", "stock", TUNED),
                    new Way("jemalloc", "stock", preload("libjemalloc.so.2")),
                    new Way("mimalloc", "stock", preload("libmimalloc.so.2")),
                    new Way("semaphore", "semaphore", Map.of()),
                    new Way("semaphore, tuned glibc", "semaphore", TUNED),
                    new Way("djl-plan", "planned", Map.of()));

    private static final List<Way> ONNX_WAYS =
            List.of(
                    new Way("ONNX Runtime, stock", "stock", Map.of()),
                    new Way("ONNX Runtime, djl-plan", "planned", Map.of()));

    @TempDir private Path folder;

    private static Map<String, String> preload(String library) {
        return Map.of("LD_PRELOAD", LIBRARIES.resolve(library).toString());
    }

    @Test
    void printOneThread() throws Exception {
        print(1, 50);
    }

    @Test
    void printSixtyFourThreads() throws Exception {
        print(64, 150);
    }

    private void print(int threads, int predictions) throws Exception {
        PoolTable table = new PoolTable(folder);
        Path model = table.copy(RealModels.TORCHSCRIPT.file("resnet50"));
        // Stores the plan, as the first start of a service does.
        JsonObject unused = table.run(new Run(model, "planned", "trivial", 1, 5), Map.of());
        Path onnx = model.resolveSibling("resnet50.onnx");
        Path made = RealModels.TORCHSCRIPT.file("resnet50").resolveSibling(onnx.getFileName());
        if (Files.exists(made)) {
            Files.copy(made, onnx);
        }
        System.out.printf(
                "%nresnet50, threads: %d, predictions: %d%n%-24s %9s %9s %9s %9s%n",
                threads, predictions, "", "RSS MB", "peak MB", "per s", "p99 ms");
        for (int round = 0; round < ROUNDS; round++) {
            for (Way way : WAYS) {
                if (isPossible(way) && (threads > 1 || !way.mode().equals("semaphore"))) {
                    Run run = new Run(model, way.mode(), "trivial", threads, predictions);
                    print(way, table.run(run, way.environment()));
                }
            }
            for (Way way : Files.exists(onnx) ? ONNX_WAYS : List.<Way>of()) {
                Run run = new Run(onnx, way.mode(), "trivial", threads, predictions);
                print(way, table.run(run, way.environment(), ONNX_RUNTIME));
            }
        }
    }

    private static boolean isPossible(Way way) {
        String library = way.environment().get("LD_PRELOAD");
        return library == null || Files.exists(Path.of(library));
    }

    private static void print(Way way, JsonObject figures) {
        System.out.printf(
                Locale.ROOT,
                "%-24s %9.1f %9.1f %9.1f %9.1f%n",
                way.label(),
                figures.get("residentBytes").getAsDouble() / MEGA,
                figures.get("peakBytes").getAsDouble() / MEGA,
                figures.get("perSecond").getAsDouble(),
                figures.get("p99Millis").getAsDouble());
    }
}
