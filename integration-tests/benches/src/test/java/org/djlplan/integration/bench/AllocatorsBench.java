package org.djlplan.integration.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Alternatives to djl-plan: environment variables of the C library, other allocators, a semaphore
 * around predictions, and the same network in ONNX Runtime. Needs Debian's libjemalloc2 and
 * libmimalloc2.0, and {@code resnet50.onnx} from {@code torchscript_models.py}; cases without their
 * file are left out.
 */
@Tag("bench")
@Tag("djl-current")
class AllocatorsBench {

    private static final Path LIBRARIES = Path.of("/usr/lib/x86_64-linux-gnu");
    private static final String KEEP_BYTES = Long.toString(1L << 30);
    private static final String REQUESTS = System.getProperty("djlplan.bench.requests", "150");

    private static final Map<String, String> TUNED =
            Map.of(
                    "MALLOC_MMAP_THRESHOLD_", KEEP_BYTES,
                    "MALLOC_TRIM_THRESHOLD_", KEEP_BYTES);

    @TempDir private Path folder;

    @Test
    void printOneThread() throws Exception {
        print(1);
    }

    @Test
    void printSixtyFourThreads() throws Exception {
        print(64);
    }

    private void print(int callers) throws Exception {
        try (Turns turns = new Turns(folder, 2)) {
            Path model = turns.copy(RealModels.TORCHSCRIPT.file("resnet50"));
            String[] settings = {
                "callers=" + callers, "requests=" + REQUESTS, "file=" + model, "inputs=image/one"
            };
            List<Way> ways = new ArrayList<>();
            ways.add(Cases.stock(settings));
            add(ways, "MALLOC_ARENA_MAX=2", Map.of("MALLOC_ARENA_MAX", "2"), settings);
            add(ways, "tuned glibc", TUNED, settings);
            add(ways, "jemalloc", preload("libjemalloc.so.2"), settings);
            add(ways, "mimalloc", preload("libmimalloc.so.2"), settings);
            if (callers > 1) {
                String[] limited = Arrays.copyOf(settings, settings.length + 1);
                limited[settings.length] = "atOnce=" + Runtime.getRuntime().availableProcessors();
                add(ways, "semaphore", Map.of(), limited);
                add(ways, "semaphore, tuned glibc", TUNED, limited);
            }
            ways.add(Cases.planned("djl-plan", Map.of(), settings));
            Path onnx = RealModels.TORCHSCRIPT.file("resnet50").resolveSibling("resnet50.onnx");
            if (Files.exists(onnx)) {
                settings[2] = "file=" + turns.copy(onnx);
                ways.add(Cases.way("ONNX Runtime", "stock", settings).jvm(Cases::withOnnxRuntime));
                ways.add(
                        Cases.way("ONNX Runtime, djl-plan", "planned", settings)
                                .jvm(Cases::withOnnxRuntime));
            }
            turns.compare("resnet50, threads: " + callers, ways);
        }
    }

    private static Map<String, String> preload(String library) {
        return Map.of("LD_PRELOAD", LIBRARIES.resolve(library).toString());
    }

    private static void add(
            List<Way> ways, String name, Map<String, String> environment, String... settings) {
        String library = environment.get("LD_PRELOAD");
        if (library == null || Files.exists(Path.of(library))) {
            ways.add(Cases.way(name, "stock", settings).jvm(jvm -> jvm.environment(environment)));
        }
    }
}
