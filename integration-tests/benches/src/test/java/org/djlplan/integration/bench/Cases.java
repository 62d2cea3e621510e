package org.djlplan.integration.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.ChildJvm;

/** Alternatives that many benchmarks compare. */
final class Cases {

    private static final Path RELEASES =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    private Cases() {}

    /**
     * Returns a way to run {@link ModelApplication}.
     *
     * @param way what it calls {@code way}
     */
    static Way way(String name, String way, String... settings) {
        String[] all =
                Stream.concat(Stream.of("way=" + way), Stream.of(settings)).toArray(String[]::new);
        return Way.of(name, ModelApplication.class, all).jvm(Turns.heap(256));
    }

    /** Returns stock and planned, both with these settings, and nothing delegated. */
    static List<Way> stockAndPlanned(String... settings) {
        return List.of(stock(settings), planned("planned", Map.of(), settings));
    }

    static Way stock(String... settings) {
        return way("stock", "stock", settings);
    }

    /** Returns a planned way with more settings, and nothing delegated unless they say so. */
    static Way planned(String name, Map<String, ?> more, String... settings) {
        List<String> all = new ArrayList<>(List.of("delegation.enabled=false"));
        more.forEach((key, value) -> all.add(key + "=" + value));
        all.addAll(List.of(settings));
        return way(name, "planned", all.toArray(String[]::new));
    }

    /** Adds ONNX Runtime and DJL's engine for it to the class path. */
    static ChildJvm withOnnxRuntime(ChildJvm jvm) {
        List<String> path = new ArrayList<>(ChildJvm.ownClassPath());
        for (String jar : List.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")) {
            path.add(RELEASES.resolve(jar).toString());
        }
        return jvm.classPath(path);
    }

    /** Starts a process that keeps a processor busy until this JVM ends. */
    static Process busyNeighbour() throws IOException {
        return new ProcessBuilder(
                        "sh",
                        "-c",
                        "while kill -0 $PPID; do i=0;"
                                + " while [ $i -lt 100000 ]; do i=$((i+1)); done; done")
                .start();
    }
}
