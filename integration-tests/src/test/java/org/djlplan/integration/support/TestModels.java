package org.djlplan.integration.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.networks.BlazeFace;
import org.djlplan.integration.networks.ElementwiseChains;
import org.djlplan.integration.networks.FullyConvolutional;
import org.djlplan.integration.networks.HardNetworks;
import org.djlplan.integration.networks.Inception;
import org.djlplan.integration.networks.LargeImages;
import org.djlplan.integration.networks.MobileNetV1;
import org.djlplan.integration.networks.QuantizedNetworks;
import org.djlplan.integration.networks.UnevenPartitions;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.params.provider.Arguments;

/** The models that tests run: those that the project builds itself, and real ones. */
public final class TestModels {

    private static final Map<String, Supplier<TfLiteFile>> NETWORKS =
            ImmutableMap.of(
                    "mobilenet_v1", () -> MobileNetV1.build(1),
                    "mobilenet_v2", () -> MobileNetV2.build(1),
                    "blaze_face", () -> BlazeFace.build(1),
                    "inception", () -> Inception.build(1),
                    "chains", () -> ElementwiseChains.build(1));

    /** Networks with several partitions. */
    private static final Map<String, Supplier<TfLiteFile>> UNEVEN =
            ImmutableMap.of(
                    "uneven", () -> UnevenPartitions.build(1, List.of(2, 0, 1, 3, 0, 0, 1, 2)),
                    "uneven_7", () -> UnevenPartitions.build(2, List.of(0, 3, 0, 1, 0, 0, 2)),
                    "uneven_9",
                            () -> UnevenPartitions.build(3, List.of(1, 0, 0, 2, 0, 1, 0, 0, 1)));

    /** Networks with 8-bit weights, as converters write them. */
    private static final Map<String, Supplier<TfLiteFile>> QUANTIZED =
            ImmutableMap.<String, Supplier<TfLiteFile>>builder()
                    .put("mobilenet_v1_int8", () -> QuantizedNetworks.mobileNetV1(1, 224))
                    .put("mobilenet_v1_int8_64", () -> QuantizedNetworks.mobileNetV1(2, 64))
                    .put("mobilenet_v1_uint8", () -> QuantizedNetworks.unsignedMobileNetV1(1, 224))
                    .put(
                            "mobilenet_v1_uint8_64",
                            () -> QuantizedNetworks.unsignedMobileNetV1(2, 64))
                    .put("wide_int8", () -> QuantizedNetworks.wide(1))
                    .put("mobilenet_v2_int8", () -> QuantizedNetworks.mobileNetV2(1, 224))
                    .put("mobilenet_v2_int8_64", () -> QuantizedNetworks.mobileNetV2(2, 64))
                    .put("efficientnet_lite_int8", () -> QuantizedNetworks.efficientNetLite(1, 224))
                    .put(
                            "efficientnet_lite_int8_64",
                            () -> QuantizedNetworks.efficientNetLite(2, 64))
                    .put("mobilenet_v2_dynamic", () -> QuantizedNetworks.dynamicRange(1, 224))
                    .put("mobilenet_v2_dynamic_64", () -> QuantizedNetworks.dynamicRange(2, 64))
                    .put(
                            "mobilenet_v2_dynamic_64_floats",
                            () -> QuantizedNetworks.dynamicRangeAsFloats(2, 64))
                    .put(
                            "mobilenet_v2_dynamic_floats",
                            () -> QuantizedNetworks.dynamicRangeAsFloats(1, 224))
                    .buildOrThrow();

    /** The network for which a delegate takes most memory. */
    private static final Map<String, Supplier<TfLiteFile>> LARGE =
            ImmutableMap.of("large_images", () -> LargeImages.build(4));

    /** The network that takes images of any size. */
    private static final Map<String, Supplier<TfLiteFile>> ANY_SIZE =
            ImmutableMap.of("fully_convolutional", () -> FullyConvolutional.build(8, 32));

    /**
     * Real models that are left out: pnet takes seconds, and the engine lacks an operator of the
     * other model.
     */
    private static final ImmutableSet<String> LEFT_OUT =
            ImmutableSet.of("pnet.tflite", "selfie_segmentation.tflite");

    private static final String HERE = "org.djlplan.integration.support.TestModels#";

    /** For tests with parameters: each of the built networks, on one thread and on two. */
    public static final String BUILT_ON_ONE_AND_TWO_THREADS = HERE + "builtAndThreads";

    /** For tests with parameters: each of the real models, on one thread and on two. */
    public static final String REAL_ON_ONE_AND_TWO_THREADS = HERE + "realAndThreads";

    private TestModels() {}

    static Stream<Arguments> builtAndThreads() {
        return withThreads(built());
    }

    static Stream<Arguments> realAndThreads() {
        return withThreads(real());
    }

    private static Stream<Arguments> withThreads(List<Path> models) {
        return models.stream()
                .flatMap(model -> Stream.of(1, 2).map(threads -> Arguments.of(model, threads)));
    }

    /** Returns the networks that the project builds, in sizes that run fast. */
    public static List<Path> built() {
        return NETWORKS.keySet().stream().map(TestModels::built).toList();
    }

    /** Returns the real models that run fast and with the shapes in their files. */
    public static List<Path> real() {
        return RealModels.TFLITE.files().stream().filter(TestModels::isRunnable).toList();
    }

    /** Returns the networks that the project builds and the real models that are present. */
    public static List<Path> present() {
        return Stream.concat(
                        built().stream(),
                        RealModels.TFLITE.present().stream().filter(TestModels::isRunnable))
                .toList();
    }

    private static boolean isRunnable(Path file) {
        return !LEFT_OUT.contains(file.getFileName().toString());
    }

    /** Returns the file of a network that the project builds. */
    public static Path built(String name) {
        Supplier<TfLiteFile> network =
                Stream.of(NETWORKS, UNEVEN, QUANTIZED, LARGE, ANY_SIZE, HardNetworks.all())
                        .filter(networks -> networks.containsKey(name))
                        .findFirst()
                        .orElseThrow()
                        .get(name);
        return written(Path.of("target", "test-models", name + ".tflite"), network);
    }

    /** Returns the file, which is written if it does not exist. */
    static Path written(Path file, Supplier<TfLiteFile> network) {
        synchronized (TestModels.class) {
            if (!Files.exists(file)) {
                try {
                    Files.createDirectories(file.getParent());
                    // Another JVM may do the same.
                    TfLiteWriter.write(network.get(), file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return file.toAbsolutePath();
    }
}
