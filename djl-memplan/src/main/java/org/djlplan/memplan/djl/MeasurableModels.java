package org.djlplan.memplan.djl;

import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.measure.TfLiteDelegableModel;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.OrderedModel;
import org.djlplan.memplan.runtime.tflite.RuntimeOptions;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;

/** Models to be measured by hand: as a load with the same options measures them. */
public final class MeasurableModels {

    private MeasurableModels() {}

    /** Returns the folder for what cannot be kept next to a model. */
    public static Path cacheFolder() {
        return ModelDelegation.cacheFolder();
    }

    /**
     * Returns a model. The engine must be loaded.
     *
     * @param file a {@code .tflite} model
     * @param options those with which it will be loaded
     * @throws IOException if the file cannot be read or is no model
     * @throws UnplannableException if the engine cannot be used here
     */
    public static TfLiteDelegableModel open(Path file, PlanOptions options)
            throws IOException, UnplannableException {
        RuntimeOptions runtimeOptions = TfLitePlanning.runtimeOptions(options);
        EngineLibrary library = EngineLibrary.loaded();
        OrderedModel ordered = TfLitePlanning.ordered(file, options, runtimeOptions);
        Graph graph =
                TfLiteGraphs.toGraph(
                        TfLiteReader.read(ordered.file()), file.getFileName().toString());
        return new TfLiteDelegableModel(
                ordered, graph, options.delegate(), cacheFolder(), runtimeOptions, library);
    }
}
