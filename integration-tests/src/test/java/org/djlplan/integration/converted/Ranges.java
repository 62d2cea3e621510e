package org.djlplan.integration.converted;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/**
 * The smallest and the largest value of each float tensor for a few inputs; the range always
 * includes 0.
 *
 * @param least the smallest values, by the tensor's number
 * @param largest the largest values, by the tensor's number
 */
record Ranges(Map<Integer, Float> least, Map<Integer, Float> largest) {

    private static final int INPUTS = 4;

    /**
     * Returns the ranges in a run of the model on the engine's CPU kernels, with every tensor as an
     * output.
     *
     * @param folder for the copy of the model with these outputs
     */
    static Ranges of(TfLiteFile file, Path folder) throws IOException {
        List<Integer> computed =
                file.main().operators().stream()
                        .flatMap(operator -> operator.outputs().stream())
                        .filter(id -> isFloats(file, id))
                        .toList();
        Path all = folder.resolve("calibrated.tflite");
        TfLiteWriter.write(file.withOutputs(computed), all);
        Ranges ranges = new Ranges(new HashMap<>(), new HashMap<>());
        try (StockInterpreter stock = new StockInterpreter(all, 1)) {
            for (int seed = 0; seed < INPUTS; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                ranges.add(file.main().inputs(), inputs);
                ranges.add(computed, stock.run(inputs));
            }
        }
        return ranges;
    }

    private static boolean isFloats(TfLiteFile file, int id) {
        return file.main().tensors().get(id).typeCode() == TfLiteTensor.FLOAT32;
    }

    private void add(List<Integer> ids, List<ByteBuffer> values) {
        for (int i = 0; i < ids.size(); i++) {
            FloatBuffer floats =
                    values.get(i).rewind().order(ByteOrder.nativeOrder()).asFloatBuffer();
            while (floats.hasRemaining()) {
                add(ids.get(i), floats.get());
            }
        }
    }

    private void add(int id, float value) {
        least.merge(id, Math.min(0, value), Math::min);
        largest.merge(id, Math.max(0, value), Math::max);
    }

    /** Returns the range of a constant. */
    static Ranges of(int id, float[] values) {
        Ranges ranges = new Ranges(new HashMap<>(), new HashMap<>());
        for (float value : values) {
            ranges.add(id, value);
        }
        return ranges;
    }
}
