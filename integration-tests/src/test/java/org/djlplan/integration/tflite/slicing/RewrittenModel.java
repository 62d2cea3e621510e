package org.djlplan.integration.tflite.slicing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/**
 * Writes a model in the same format as djl-plan's rewritten models, and runs it in the stock
 * engine.
 */
final class RewrittenModel {

    private RewrittenModel() {}

    /**
     * Returns the outputs for random inputs, which are the same for all models with equal input
     * shapes.
     */
    static List<ByteBuffer> run(TfLiteFile model, Path folder, int threads) throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.writePageAligned(model, file, bytes -> {});
        try (StockInterpreter interpreter = new StockInterpreter(file, threads)) {
            return interpreter.run(interpreter.randomInputs(3));
        } finally {
            Files.delete(file);
        }
    }
}
