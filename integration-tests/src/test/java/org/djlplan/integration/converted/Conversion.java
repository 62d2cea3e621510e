package org.djlplan.integration.converted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.djlplan.integration.converted.AllIntegers.Form;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/** The conversions of a trained model of floats. */
public enum Conversion {
    /** 8-bit weights, with floats between the layers. */
    DYNAMIC_RANGE,
    /** The same with 4-bit weights, except for depthwise convolutions. */
    FOUR_BITS,
    /** Signed 8-bit integers; weights have a scale for each channel. */
    INT8,
    /** Unsigned 8-bit integers, with a scale for each tensor. */
    UINT8;

    private static final int HALF_BYTE = 4;

    /** Returns the file of a converted real model. */
    public Path file(String model) throws IOException {
        Path file =
                Path.of(
                        "target",
                        "converted-models",
                        model + "_" + name().toLowerCase(Locale.ROOT) + ".tflite");
        if (!Files.exists(file)) {
            Files.createDirectories(file.getParent());
            TfLiteWriter.write(
                    of(PlainFloats.of(TfLiteReader.read(RealModels.TFLITE.file(model)))), file);
        }
        return file.toAbsolutePath();
    }

    private TfLiteFile of(TfLiteFile floats) throws IOException {
        return switch (this) {
            case DYNAMIC_RANGE -> FewBitWeights.of(floats, Byte.SIZE);
            case FOUR_BITS -> FewBitWeights.of(floats, HALF_BYTE);
            case INT8 -> AllIntegers.of(floats, Form.SIGNED, ranges(floats));
            case UINT8 -> AllIntegers.of(floats, Form.UNSIGNED, ranges(floats));
        };
    }

    private static Ranges ranges(TfLiteFile floats) throws IOException {
        Path folder = Files.createTempDirectory("djlplan-ranges");
        try {
            return Ranges.of(floats, folder);
        } finally {
            Files.deleteIfExists(folder.resolve("calibrated.tflite"));
            Files.delete(folder);
        }
    }
}
