package org.djlplan.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.integration.networks.BlazeFace;
import org.djlplan.integration.networks.ElementwiseChains;
import org.djlplan.integration.networks.Inception;
import org.djlplan.integration.networks.MobileNetV1;
import org.djlplan.integration.networks.UnevenPartitions;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteWriter;

/**
 * The models that tests run: those the project builds itself, always; and real ones when {@code
 * fetch-models.sh} has fetched them, which it must have when {@code DJLPLAN_REQUIRE_MODELS} is
 * true.
 */
public final class TestModels {

    private static final Path REAL = Path.of("models");
    private static final boolean REQUIRED =
            Boolean.parseBoolean(System.getenv().getOrDefault("DJLPLAN_REQUIRE_MODELS", "false"));

    private static final Map<String, Supplier<TfLiteFile>> NETWORKS =
            ImmutableMap.of(
                    "mobilenet_v1", () -> MobileNetV1.build(1),
                    "mobilenet_v2", () -> MobileNetV2.build(1),
                    "blaze_face", () -> BlazeFace.build(1),
                    "inception", () -> Inception.build(1),
                    "chains", () -> ElementwiseChains.build(1));

    /** Networks of which a delegate takes several partitions. */
    private static final Map<String, Supplier<TfLiteFile>> UNEVEN =
            ImmutableMap.of(
                    "uneven", () -> UnevenPartitions.build(1, List.of(2, 0, 1, 3, 0, 0, 1, 2)),
                    "uneven_7", () -> UnevenPartitions.build(2, List.of(0, 3, 0, 1, 0, 0, 2)),
                    "uneven_9",
                            () -> UnevenPartitions.build(3, List.of(1, 0, 0, 2, 0, 1, 0, 0, 1)));

    /** Real models that run on this engine. */
    private static final ImmutableList<String> RUNNABLE =
            ImmutableList.of(
                    "hand_landmark_full",
                    "hand_landmark_lite",
                    "palm_detection_full",
                    "palm_detection_lite",
                    "face_detection_full_range",
                    "face_detection_full_range_sparse",
                    "face_detection_short_range",
                    "face_landmark",
                    "onet",
                    "rnet",
                    "MobileFaceNet",
                    "FaceAntiSpoofing");

    private TestModels() {}

    /** Returns every model that runs with the shapes in its file and in little time. */
    public static List<Path> runnable() {
        ImmutableList.Builder<Path> models = ImmutableList.builder();
        NETWORKS.keySet().forEach(name -> models.add(built(name)));
        RUNNABLE.forEach(name -> real(name).ifPresent(models::add));
        return models.build();
    }

    /** Returns the file of a network that the project builds. */
    public static Path built(String name) {
        Path file = Path.of("target", "test-models", name + ".tflite");
        synchronized (TestModels.class) {
            if (!Files.exists(file)) {
                try {
                    Files.createDirectories(file.getParent());
                    Supplier<TfLiteFile> network =
                            NETWORKS.containsKey(name) ? NETWORKS.get(name) : UNEVEN.get(name);
                    TfLiteWriter.write(network.get(), file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return file.toAbsolutePath();
    }

    /** Returns the file of a real model, or empty where none were fetched. */
    public static Optional<Path> real(String name) {
        Path file = REAL.resolve(name + ".tflite").toAbsolutePath();
        boolean there = Files.isRegularFile(file);
        assertTrue(there || !REQUIRED, file + " is required: run fetch-models.sh");
        return there ? Optional.of(file) : Optional.empty();
    }
}
