package org.djlplan.integration.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.onnxruntime.OrtMemoryProgram.Way;
import org.djlplan.integration.onnxruntime.OrtMemoryProgram.Work;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnnxSketch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares memory and time of ONNX models, planned and with several settings of the stock engine.
 * JVMs take turns, one for each setting. Prints a line for each; asserts that the outputs are the
 * same.
 */
@Tag("onnxruntime")
@Tag("bench")
class OrtMemoryBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.rounds", 1);
    private static final Path MODELS = Path.of("models", "onnx").toAbsolutePath();

    @TempDir Path folder;

    /** Returns the published model, or, if it is absent, a generated one. */
    private Path detector() throws Exception {
        Path real = MODELS.resolve("ch_PP-OCRv4_det_infer.onnx");
        return Files.isRegularFile(real) ? real : OrtModels.Kind.DETECTOR.write(folder);
    }

    private Path reader() throws Exception {
        Path real = MODELS.resolve("ch_PP-OCRv4_rec_infer.onnx");
        return Files.isRegularFile(real) ? real : OrtModels.Kind.CLASSIFIER.write(folder);
    }

    @Test
    void printRandomSizes() throws Exception {
        print(
                List.of(Way.STOCK, Way.PATTERNS_OFF, Way.PLANNED),
                Work.RANDOM,
                detector(),
                154,
                1,
                1);
    }

    @Test
    void printSessions() throws Exception {
        print(
                List.of(Way.PATTERNS_OFF, Way.ARENA_OFF, Way.PLANNED),
                Work.SESSIONS,
                detector(),
                48,
                1,
                8);
    }

    @Test
    void printThreads() throws Exception {
        print(
                List.of(Way.STOCK, Way.PATTERNS_OFF_TWO, Way.PLANNED),
                Work.LINES,
                reader(),
                214,
                64,
                1);
    }

    @Test
    void printTwoAtOnce() throws Exception {
        print(List.of(Way.PATTERNS_OFF_TWO, Way.PLANNED), Work.SESSIONS, detector(), 64, 8, 1);
    }

    @Test
    void printFixedSize() throws Exception {
        print(List.of(Way.PATTERNS_OFF, Way.PLANNED), Work.FIXED, detector(), 100, 1, 1);
    }

    @Test
    void printText() throws Exception {
        Path file = OnnxSketch.encoder(6, 384).write(folder.resolve("encoder.onnx"));
        for (int threads : new int[] {1, 8, 64}) {
            print(List.of(Way.STOCK, Way.PLANNED), Work.TEXT, file, 400, threads, 1);
            print(List.of(Way.STOCK, Way.PLANNED), Work.BATCHES, file, 200, threads, 1);
        }
    }

    private void print(
            List<Way> ways, Work work, Path file, int predictions, int threads, int sessions)
            throws Exception {
        String outputs = "";
        for (int round = 0; round < ROUNDS; round++) {
            for (Way way : ways) {
                ChildJvm.Result result =
                        new ChildJvm(folder)
                                .small()
                                .options("-Xms256m", "-XX:+AlwaysPreTouch")
                                .run(
                                        OrtMemoryProgram.class,
                                        way.name(),
                                        work.name(),
                                        file.toString(),
                                        Integer.toString(predictions),
                                        Integer.toString(threads),
                                        Integer.toString(sessions));
                assertEquals(0, result.exitCode(), result::printed);
                String line =
                        result.out()
                                .lines()
                                .filter(each -> each.contains(" MB "))
                                .findAny()
                                .orElseThrow();
                System.out.println(line);
                String all = line.substring(line.indexOf("outputs"));
                assertEquals(outputs.isEmpty() ? all : outputs, all);
                outputs = all;
            }
        }
    }
}
