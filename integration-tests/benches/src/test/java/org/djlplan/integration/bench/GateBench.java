package org.djlplan.integration.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Services with several models, stock and planned: a light model beside a large one, and alone; one
 * model with more and more callers; and models that one request needs together. {@code
 * -Ddjlplan.bench.seconds=N} measures each for so long, {@code -Ddjlplan.bench.case=NAME} only
 * pairs whose names begin so, such as {@code resnet50.pt x 8}.
 */
@Tag("djl-current")
@Tag("bench")
class GateBench {

    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "6");
    private static final int JVMS = Integer.getInteger("djlplan.bench.fresh", 1);
    private static final Path MODELS = Path.of("models").toAbsolutePath();

    /** Until Java's compilers are done, they compete with fast predictions for the cores. */
    private static final int LONG_WARM_UP_SECONDS = 10;

    /**
     * A light model is called so rarely that Java would not compile its code while it is measured,
     * so it is called often before.
     */
    private static final String COMPILED = "alone=4";

    @TempDir Path folder;

    /** Returns the settings of a model whose callers make no pauses. */
    private static List<String> model(String file, String inputs, int callers) {
        return List.of("file=" + MODELS.resolve(file), "inputs=" + inputs, "callers=" + callers);
    }

    private static List<List<String>> large(int callers) {
        return List.of(
                model("torchscript/resnet50.pt", "image/one", callers),
                model("onnx/ch_PP-OCRv4_det_infer.onnx", "f1x3x320x320", callers),
                model("hand_landmark_full.tflite", "f1x224x224x3", callers));
    }

    private static List<String> light(String file, String inputs) {
        return List.of("file=" + MODELS.resolve(file), "inputs=" + inputs, "pause=20", COMPILED);
    }

    private static List<List<String>> light() {
        return List.of(
                light("torchscript/tiny_text.pt", "i1x32"),
                light("onnx/ch_ppocr_mobile_v2.0_cls_infer.onnx", "f1x3x48x192"),
                light("embedding_model.tflite", "f1x76x32x1"));
    }

    @SafeVarargs
    private void print(String name, int jvms, int warmUpSeconds, List<String>... models)
            throws Exception {
        try (Turns turns = new Turns(folder, jvms)) {
            List<Way> ways = new ArrayList<>();
            for (String way : List.of("stock", "planned")) {
                List<String> settings = new ArrayList<>();
                settings.add("seconds=" + SECONDS);
                settings.add("warmUp=" + warmUpSeconds);
                // Else a process that measures rewrites would run beside.
                settings.add("delegation.enabled=false");
                for (List<String> model : models) {
                    settings.addAll(model);
                }
                ways.add(
                        Cases.way(way, way, settings.toArray(String[]::new))
                                .jvm(Cases::withOnnxRuntime));
            }
            turns.compare(name, ways);
        }
    }

    private void printBeside(List<String> large, int callers, List<String> light, int jvms)
            throws Exception {
        print(fileName(large) + " x " + callers + ", " + fileName(light), jvms, 2, large, light);
    }

    private static Path fileName(List<String> model) {
        return Path.of(model.get(0)).getFileName();
    }

    @Test
    void printLightBesideLarge() throws Exception {
        for (int callers : new int[] {1, 8, 64}) {
            for (List<String> large : large(callers)) {
                for (List<String> light : light()) {
                    printBeside(large, callers, light, JVMS);
                }
            }
        }
    }

    /** As many large callers as cores, so stock, too, runs as many large predictions as cores. */
    @Test
    void printLightBesideTwo() throws Exception {
        for (List<String> light : light().subList(0, 2)) {
            printBeside(large(2).get(0), 2, light, 3);
        }
    }

    /**
     * A thread works for a millisecond after each 20 ms of sleep, beside threads that compute
     * without pauses: the delay that the system's scheduler alone causes.
     */
    @Test
    void printScheduler() throws Exception {
        compute(50_000_000);
        long before = System.nanoTime();
        compute(10_000_000);
        long steps = 10_000_000L * 1_000_000 / (System.nanoTime() - before);
        for (int busy : new int[] {0, 1, 2, 3, 4, 8, 64}) {
            ExecutorService threads = Executors.newCachedThreadPool();
            for (int i = 0; i < busy; i++) {
                threads.execute(
                        () -> {
                            while (!Thread.currentThread().isInterrupted()) {
                                compute(100_000);
                            }
                        });
            }
            double[] millis = new double[500];
            for (int i = 0; i < millis.length; i++) {
                Thread.sleep(20);
                long start = System.nanoTime();
                compute(steps);
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
            threads.shutdownNow();
            assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
            System.out.printf(
                    "%2d busy threads: p50 %5.2f, p99 %5.2f ms%n",
                    busy,
                    Quantiles.median().compute(millis),
                    Quantiles.percentiles().index(99).compute(millis));
        }
    }

    private static void compute(long steps) {
        double value = 1;
        for (long i = 0; i < steps; i++) {
            value = Math.sqrt(value + i);
        }
        // The compiler must not remove the loop.
        assertTrue(value > 0);
    }

    @Test
    void printLightAlone() throws Exception {
        for (List<String> light : light()) {
            print("alone", 1, 2, light);
        }
    }

    @Test
    void printOneModel() throws Exception {
        for (int callers : new int[] {1, 2, 8, 64}) {
            List<String> text = model("torchscript/tiny_text.pt", "text/log_normal", callers);
            print("texts", 3, LONG_WARM_UP_SECONDS, text);
        }
        for (int callers : new int[] {1, 64}) {
            print("images", 1, 2, model("torchscript/resnet50.pt", "image/one", callers));
        }
    }

    @Test
    void printPipelines() throws Exception {
        int callers = 8;
        print("faces", 1, 2, model("pnet.tflite", "f1x80x60x3", callers));
        print(
                "sound",
                1,
                2,
                model("melspectrogram.tflite", "f1x1760", callers),
                model("embedding_model.tflite", "f1x76x32x1", callers));
        List<String> detector = model("onnx/ch_PP-OCRv4_det_infer.onnx", "f1x3x320x320", callers);
        List<String> chained = new ArrayList<>(detector);
        chained.add("chain=true");
        List<String> classifier =
                model("onnx/ch_ppocr_mobile_v2.0_cls_infer.onnx", "f1x3x48x192", callers);
        List<String> reader = model("onnx/ch_PP-OCRv4_rec_infer.onnx", "f1x3x48x320", callers);
        print("ocr", 1, 2, detector, classifier, reader);
        print("ocr requests", 1, 2, chained, classifier, reader);
    }
}
