package org.djlplan.delegation.cli;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.util.Utils;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.measure.MeasurableModel;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.OrderedModel;
import org.djlplan.memplan.runtime.tflite.RuntimeOptions;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.DelegableModel;

/** TensorFlow Lite models that can be measured. */
final class TfLiteModels {

    private static final String ENGINE = "TFLite";

    private TfLiteModels() {}

    /** Returns where measurements are kept that cannot be kept next to the model. */
    static Path cacheFolder() {
        return Utils.getCacheDir().resolve("djl-plan");
    }

    /**
     * Returns the graph of a model.
     *
     * @throws IOException if the file cannot be read or is no model
     */
    static Graph graph(Path file) throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
    }

    /**
     * Loads the engine and returns a model that runs in it as models do that are loaded without
     * options.
     *
     * @param delegate as in {@code delegation.delegate}
     * @throws IOException if the file cannot be read or is no model
     * @throws IllegalStateException if the engine is not there
     */
    static DelegableModel open(Path file, String delegate) throws IOException {
        Graph graph = graph(file);
        if (!Engine.hasEngine(ENGINE)) {
            throw new IllegalStateException(
                    "the TFLite engine is not on the class path (ai.djl.tflite:tflite-engine)");
        }
        try {
            Engine.getEngine(ENGINE).newBaseManager().close();
            return new MeasurableModel(
                    OrderedModel.asInFile(file),
                    graph,
                    delegate,
                    cacheFolder(),
                    RuntimeOptions.defaults(),
                    EngineLibrary.loaded());
        } catch (EngineException | UnplannableException e) {
            throw new IllegalStateException(
                    "the TFLite engine cannot be used: " + e.getMessage(), e);
        }
    }
}
