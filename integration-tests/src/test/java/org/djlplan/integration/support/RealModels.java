package org.djlplan.integration.support;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Published models, which are not in the repository; a script fetches or makes each set. Tests that
 * need a set say so with {@link NeedsModels}.
 */
public enum RealModels {
    /** Published models, most of them from MediaPipe. */
    TFLITE(
            Path.of("models"),
            ".tflite",
            "fetch-models.sh",
            "DJLPLAN_REQUIRE_MODELS",
            "hand_landmark_full",
            "hand_landmark_lite",
            "palm_detection_full",
            "palm_detection_lite",
            "face_detection_full_range",
            "face_detection_full_range_sparse",
            "face_detection_short_range",
            "face_landmark",
            "onet",
            "pnet",
            "rnet",
            "MobileFaceNet",
            "FaceAntiSpoofing",
            "selfie_segmentation"),
    /** Models of openWakeWord, whose inputs have other lengths or batches than in the file. */
    OPEN_SHAPES(
            Path.of("models"),
            ".tflite",
            "fetch-models.sh",
            "DJLPLAN_REQUIRE_MODELS",
            "melspectrogram",
            "embedding_model"),
    /** Published ONNX models: PP-OCR, and Silero's detector of speech. */
    ONNX(
            Path.of("models", "onnx"),
            ".onnx",
            "fetch-models.sh",
            "DJLPLAN_REQUIRE_MODELS",
            "ch_PP-OCRv4_det_infer",
            "ch_PP-OCRv4_rec_infer",
            "ch_ppocr_mobile_v2.0_cls_infer",
            "silero_vad_v5"),
    /** Networks of torchvision that take an image of 224 × 224, with random weights. */
    TORCHSCRIPT(
            Path.of("models", "torchscript"),
            ".pt",
            "torchscript_models.py",
            "DJLPLAN_REQUIRE_TORCH_MODELS",
            "squeezenet1_1",
            "mobilenet_v2",
            "resnet18",
            "densenet121"),
    /** Networks for which a byte budget matters: ResNet-152, VGG-19, and a BERT of base size. */
    LARGE_TORCHSCRIPT(
            Path.of("models", "torchscript"),
            ".pt",
            "torchscript_models.py",
            "DJLPLAN_REQUIRE_TORCH_MODELS",
            "resnet152",
            "vgg19",
            "bert_base");

    private final Path folder;
    private final String suffix;
    private final String script;
    private final String variable;
    private final ImmutableList<String> names;

    RealModels(Path folder, String suffix, String script, String variable, String... names) {
        this.folder = folder;
        this.suffix = suffix;
        this.script = script;
        this.variable = variable;
        this.names = ImmutableList.copyOf(names);
    }

    /** Returns the file of a model, which need not exist. */
    public Path file(String name) {
        return folder.resolve(name + suffix).toAbsolutePath();
    }

    /** Returns the files of all models of the set, which need not exist. */
    public List<Path> files() {
        return names.stream().map(this::file).toList();
    }

    /** Returns the existing files, for benchmarks, which print what they measured. */
    public List<Path> present() {
        return files().stream().filter(Files::isRegularFile).toList();
    }

    /** Returns whether the environment requires the models. */
    boolean required() {
        return Boolean.parseBoolean(System.getenv(variable));
    }

    /** Returns which models are missing and how to get them, or nothing if all are present. */
    Optional<String> missing() {
        return files().stream()
                .filter(file -> !Files.isRegularFile(file))
                .findFirst()
                .map(file -> file + " is not there: run integration-tests/" + script);
    }
}
