package org.djlplan.integration.pool;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Predicts with a light model beside a large one, in new JVMs, stock and planned in turns; and with
 * a light model alone. Prints the lines of {@link GateApplication}; asserts nothing, because
 * machines are noisy.
 */
@Tag("djl-current")
@Tag("bench")
class GateBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 1);
    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "5");
    private static final Path MODELS = Path.of("models").toAbsolutePath();
    private static final Path RELEASES =
            Path.of("downloads", "target", "onnxruntime").toAbsolutePath();

    private static final int[] LARGE_CALLERS = {1, 8, 64};
    private static final int[] LIGHT_CALLERS = {1, 2, 8, 64};

    @TempDir Path folder;

    private static String pytorch(String name, String input, int callers, int pause) {
        return String.join(
                ",",
                "PyTorch",
                MODELS.resolve("torchscript").resolve(name).toString(),
                input,
                "" + callers,
                "" + pause);
    }

    private static String onnx(String name, String input, int callers, int pause) {
        return String.join(
                ",",
                "OnnxRuntime",
                MODELS.resolve("onnx").resolve(name).toString(),
                input,
                "" + callers,
                "" + pause);
    }

    private static String tfLite(String name, String input, int callers, int pause) {
        return String.join(
                ",", "TFLite", MODELS.resolve(name).toString(), input, "" + callers, "" + pause);
    }

    private static List<String> large(int callers) {
        return List.of(
                pytorch("resnet50.pt", "f1x3x224x224", callers, 0),
                onnx("ch_PP-OCRv4_det_infer.onnx", "f1x3x320x320", callers, 0),
                tfLite("hand_landmark_full.tflite", "f1x224x224x3", callers, 0));
    }

    private static List<String> light(int callers, int pause) {
        return List.of(
                pytorch("tiny_text.pt", "i1x32", callers, pause),
                onnx("ch_ppocr_mobile_v2.0_cls_infer.onnx", "f1x3x48x192", callers, pause),
                tfLite("embedding_model.tflite", "f1x76x32x1", callers, pause));
    }

    private void print(String... models) throws Exception {
        List<String> classPath = new ArrayList<>(ChildJvm.ownClassPath());
        for (String jar : List.of("onnxruntime-engine-0.35.1.jar", "onnxruntime-1.21.1.jar")) {
            classPath.add(RELEASES.resolve(jar).toString());
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (String mode : List.of("stock", "planned")) {
                List<String> arguments = new ArrayList<>(List.of(mode, "3", SECONDS));
                arguments.addAll(List.of(models));
                ChildJvm.Result result =
                        new ChildJvm(folder)
                                .classPath(classPath)
                                .options("-Dai.djl.pytorch.num_threads=1")
                                .run(GateApplication.class, arguments.toArray(String[]::new));
                System.out.println(mode + ": " + result.out().strip().replace("\n", "; "));
            }
        }
    }

    @Test
    void printLightBesideLarge() throws Exception {
        Assumptions.assumeTrue(Files.isDirectory(MODELS), "no models");
        for (int callers : LARGE_CALLERS) {
            for (String large : large(callers)) {
                for (String light : light(1, 20)) {
                    print(large, light);
                }
            }
        }
    }

    @Test
    void printTexts() throws Exception {
        Assumptions.assumeTrue(Files.isDirectory(MODELS), "no models");
        for (int callers : LIGHT_CALLERS) {
            print(pytorch("tiny_text.pt", "text", callers, 0));
        }
    }
}
