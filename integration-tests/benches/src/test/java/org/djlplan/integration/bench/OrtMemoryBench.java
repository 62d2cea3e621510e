package org.djlplan.integration.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.OnnxSketch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * ONNX models as DJL loads them, with options of the session that need no djl-plan, with a
 * semaphore, and planned. Uses PP-OCRv4's detector and reader if they are there, and otherwise
 * generated models. {@code -Ddjlplan.bench.requests=N} sends N requests.
 */
@Tag("djl-current")
@Tag("bench")
class OrtMemoryBench {

    private static final Path MODELS = Path.of("models", "onnx").toAbsolutePath();

    @TempDir Path folder;

    private Path model(String name, OnnxSketch otherwise) throws Exception {
        Path real = MODELS.resolve(name);
        return Files.isRegularFile(real) ? real : otherwise.write(folder.resolve(name));
    }

    private Path detector() throws Exception {
        return model("ch_PP-OCRv4_det_infer.onnx", OnnxSketch.detector());
    }

    private Path reader() throws Exception {
        return model("ch_PP-OCRv4_rec_infer.onnx", OnnxSketch.classifier());
    }

    /**
     * @param ways of {@link ModelApplication}; with a number, at most as many predictions at once
     */
    private void print(
            List<String> ways, Path file, String inputs, int requests, int callers, int loads)
            throws Exception {
        List<Way> all = new ArrayList<>();
        for (String each : ways) {
            String[] words = each.split(" ", 2);
            List<String> settings =
                    new ArrayList<>(
                            List.of(
                                    "callers=" + callers,
                                    "loads=" + loads,
                                    "requests="
                                            + Integer.getInteger(
                                                    "djlplan.bench.requests", requests),
                                    "file=" + file,
                                    "inputs=" + inputs));
            if (words.length > 1) {
                settings.add("atOnce=" + words[1]);
            }
            all.add(
                    Cases.way(each, words[0], settings.toArray(String[]::new))
                            .jvm(Cases::withOnnxRuntime));
        }
        try (Turns turns = new Turns(folder, 1)) {
            turns.compare(inputs + ", threads: " + callers + ", sessions: " + loads, all);
        }
    }

    @Test
    void printRandomSizes() throws Exception {
        List<String> ways = List.of("stock", "patterns-off", "planned");
        print(ways, detector(), "scene/uniform", 154, 1, 1);
    }

    @Test
    void printSessions() throws Exception {
        List<String> ways = List.of("patterns-off", "arena-off", "planned");
        print(ways, detector(), "scene/uniform", 48, 1, 8);
    }

    @Test
    void printThreads() throws Exception {
        List<String> ways = List.of("stock", "patterns-off 2", "planned");
        print(ways, reader(), "word/uniform", 214, 64, 1);
    }

    @Test
    void printTwoAtOnce() throws Exception {
        print(List.of("patterns-off 2", "planned"), detector(), "scene/uniform", 64, 8, 1);
    }

    @Test
    void printFixedSize() throws Exception {
        print(List.of("patterns-off", "planned"), detector(), "scene/one", 100, 1, 1);
    }

    @Test
    void printText() throws Exception {
        Path file = OnnxSketch.encoder(6, 384).write(folder.resolve("encoder.onnx"));
        for (int callers : new int[] {1, 8, 64}) {
            print(List.of("stock", "planned"), file, "text/uniform", 400, callers, 1);
            print(List.of("stock", "planned"), file, "rows/uniform", 200, callers, 1);
        }
    }

    /** Parts of an application that do not know each other load one file many times. */
    @Test
    void printLoads() throws Exception {
        List<String> ways = List.of("stock", "planned");
        print(ways, reader(), "word/one", 200, 1, 200);
    }
}
