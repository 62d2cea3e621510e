package org.djlplan.integration.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.networks.MobileNetV1;
import org.djlplan.integration.networks.PackedWeights;
import org.djlplan.integration.networks.ResNet;
import org.djlplan.integration.networks.Vgg;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.base.Ascii;

/**
 * Networks with large weights, to run in budgets smaller than the weights: networks of real size,
 * and small ones for tests, which run in a fraction of a second.
 *
 * <p>A file is written at its first use, and remains in {@code target/budget-models} or in the
 * folder that the system property {@code djlplan.budgetModels} names.
 */
public enum BudgetModels {
    RESNET152(memory -> ResNet.RESNET_152.build(1, memory)),
    VGG19(memory -> Vgg.VGG_19.build(1, memory)),
    MOBILENET_V1(memory -> MobileNetV1.build(1)),
    MOBILENET_V2(memory -> MobileNetV2.build(1)),
    /** With 16-bit weights, which operators unpack. */
    MOBILENET_V2_F16(memory -> PackedWeights.of(MobileNetV2.build(1), memory)),
    SMALL_RESNET(memory -> ResNet.SMALL.build(1, memory)),
    /** With 16-bit weights, which operators unpack. */
    SMALL_RESNET_F16(memory -> PackedWeights.of(ResNet.SMALL.build(1, memory), memory)),
    SMALL_VGG(memory -> Vgg.SMALL.build(1, memory)),
    /** With 16-bit weights, which operators unpack. */
    SMALL_VGG_F16(memory -> PackedWeights.of(Vgg.SMALL.build(1, memory), memory)),
    /** The same operators, but hardly any weights. */
    TINY_RESNET(memory -> new ResNet(32, 8, List.of(1, 1), 10).build(1, memory)),
    TINY_VGG(memory -> new Vgg(32, 8, List.of(1, 1), 16, 10).build(1, memory));

    private static final Path FOLDER =
            Path.of(System.getProperty("djlplan.budgetModels", "target/budget-models"));

    @SuppressWarnings("ImmutableEnumChecker") // functions without state
    private final Function<IntFunction<ByteBuffer>, TfLiteFile> network;

    BudgetModels(Function<IntFunction<ByteBuffer>, TfLiteFile> network) {
        this.network = network;
    }

    /** Returns the model's file, which must not be changed. */
    public Path file() {
        String name = Ascii.toLowerCase(name()) + ".tflite";
        try {
            Files.createDirectories(FOLDER);
            try (MappedMemory memory = new MappedMemory(FOLDER)) {
                return TestModels.written(FOLDER.resolve(name), () -> network.apply(memory));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
