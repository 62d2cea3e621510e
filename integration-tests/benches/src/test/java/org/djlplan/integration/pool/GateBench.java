package org.djlplan.integration.pool;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares services with several models, stock and planned in turns, each in a new JVM: a light
 * model beside a large one; one model with more and more callers; and models that one request needs
 * together. Prints for each model what {@link GateApplication} measured; asserts nothing, because
 * machines are noisy.
 *
 * <p>{@code -Ddjlplan.bench.case=texts} runs only the cases whose names begin so, {@code
 * -Ddjlplan.bench.rounds=N} runs each N times, {@code -Ddjlplan.bench.seconds=N} measures each for
 * so long.
 */
@Tag("djl-current")
@Tag("bench")
class GateBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 1);
    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "3");
    private static final String CASE = System.getProperty("djlplan.bench.case", "");
    private static final int WARM_UP_SECONDS = 2;

    /** Until Java's compilers are done, they compete with fast predictions for the cores. */
    private static final int LONG_WARM_UP_SECONDS = 15;

    private static final Path MODELS = Path.of("models").toAbsolutePath();
    private static final Path RELEASES =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    private static final int[] LARGE_CALLERS = {1, 8, 64};
    private static final int[] TEXT_CALLERS = {1, 2, 8, 64};
    private static final int[] IMAGE_CALLERS = {1, 64};

    @TempDir Path folder;

    /** A model, its input, and the milliseconds between two calls of one of its callers. */
    private record Called(String engine, String file, String input, int callers, int pause) {

        private String argument() {
            return String.join(
                    ",",
                    engine,
                    MODELS.resolve(file).toString(),
                    input,
                    Integer.toString(callers),
                    Integer.toString(pause));
        }
    }

    private static Called pytorch(String name, String input, int callers, int pause) {
        return new Called("PyTorch", "torchscript/" + name + ".pt", input, callers, pause);
    }

    private static Called onnx(String name, String input, int callers, int pause) {
        return new Called("OnnxRuntime", "onnx/" + name + ".onnx", input, callers, pause);
    }

    private static Called tfLite(String name, String input, int callers, int pause) {
        return new Called("TFLite", name + ".tflite", input, callers, pause);
    }

    private static List<Called> large(int callers) {
        return List.of(
                pytorch("resnet50", "f1x3x224x224", callers, 0),
                onnx("ch_PP-OCRv4_det_infer", "f1x3x320x320", callers, 0),
                tfLite("hand_landmark_full", "f1x224x224x3", callers, 0));
    }

    private static List<Called> light() {
        return List.of(
                pytorch("tiny_text", "i1x32", 1, 20),
                onnx("ch_ppocr_mobile_v2.0_cls_infer", "f1x3x48x192", 1, 20),
                tfLite("embedding_model", "f1x76x32x1", 1, 20));
    }

    private void print(String name, Called... models) throws Exception {
        print(name, WARM_UP_SECONDS, models);
    }

    private void print(String name, int warmUpSeconds, Called... models) throws Exception {
        if (!name.startsWith(CASE)) {
            return;
        }
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        for (String jar : List.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")) {
            classPath.add(RELEASES.resolve(jar).toString());
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (String mode : List.of("stock", "planned")) {
                List<String> arguments = new ArrayList<>();
                arguments.addAll(List.of(mode, Integer.toString(warmUpSeconds), SECONDS));
                for (Called each : models) {
                    arguments.add(each.argument());
                }
                ChildJvm.Result result =
                        new ChildJvm(folder)
                                .classPath(classPath)
                                // As in a service, all of Java's compilers work.
                                .options(
                                        "-XX:TieredStopAtLevel=4", "-Dai.djl.pytorch.num_threads=1")
                                .run(GateApplication.class, arguments.toArray(String[]::new));
                System.out.printf(
                        Locale.ROOT,
                        "%-8s %-7s %s%n",
                        name,
                        mode,
                        result.exitCode() == 0
                                ? result.out().strip().replace("\n", " | ")
                                : result.err());
            }
        }
    }

    @Test
    void printLightBesideLarge() throws Exception {
        Assumptions.assumeTrue(Files.isDirectory(MODELS), "no models");
        for (int callers : LARGE_CALLERS) {
            for (Called large : large(callers)) {
                for (Called light : light()) {
                    print("beside", large, light);
                }
            }
        }
    }

    @Test
    void printOneModel() throws Exception {
        Assumptions.assumeTrue(Files.isDirectory(MODELS), "no models");
        for (int callers : TEXT_CALLERS) {
            print("texts", LONG_WARM_UP_SECONDS, pytorch("tiny_text", "text", callers, 0));
        }
        for (int callers : IMAGE_CALLERS) {
            print("images", pytorch("resnet50", "f1x3x224x224", callers, 0));
        }
    }

    @Test
    void printPipelines() throws Exception {
        Assumptions.assumeTrue(Files.isDirectory(MODELS), "no models");
        int callers = 8;
        print("faces", tfLite("pnet", "f1x80x60x3", callers, 0));
        print(
                "sound",
                tfLite("melspectrogram", "f1x1760", callers, 0),
                tfLite("embedding_model", "f1x76x32x1", callers, 0));
        print(
                "ocr",
                onnx("ch_PP-OCRv4_det_infer", "f1x3x320x320", callers, 0),
                onnx("ch_ppocr_mobile_v2.0_cls_infer", "f1x3x48x192", callers, 0),
                onnx("ch_PP-OCRv4_rec_infer", "f1x3x48x320", callers, 0));
    }
}
