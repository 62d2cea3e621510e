package org.djlplan.cli.tune;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.ModelDelegation;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;

/** Loads TensorFlow Lite models for measuring. */
final class TfLiteModels {

    private static final String ENGINE = "TFLite";

    private TfLiteModels() {}

    /** Returns the folder for measurements that cannot be stored next to the model. */
    static Path cacheFolder() {
        return CacheFolder.get();
    }

    /**
     * Returns the graph of a model.
     *
     * @throws IOException if the file cannot be read or is not a model
     */
    static Graph graph(Path file) throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
    }

    /**
     * Loads the engine and returns a model that runs as models loaded with these options do.
     *
     * @param mix other shapes to measure at; empty for those in the file
     * @throws IOException if the file cannot be read or is not a model
     * @throws IllegalStateException if the engine is not available, cannot allocate the model for
     *     the shapes in its file, or delegates no other shapes
     */
    static DelegableModel open(Path file, PlanOptions options, Optional<ShapeMix> mix)
            throws IOException {
        // Read the graph first, so that a file that is not a model loads no engine.
        Graph unused = graph(file);
        if (!Engine.hasEngine(ENGINE)) {
            throw new IllegalStateException(
                    "the TFLite engine is not on the class path (ai.djl.tflite:tflite-engine)");
        }
        try {
            Engine.getEngine(ENGINE).newBaseManager().close();
            TfLiteDelegableModel model = ModelDelegation.measurable(file, options);
            if (mix.isEmpty()) {
                requireShapes(file);
                return model;
            }
            if (!model.isMeasurableAtOtherShapes()) {
                throw new IllegalStateException(
                        "TensorFlow Lite %s with %s delegates no other shapes than those in the file:"
                                        .formatted(model.library().version(), model.delegate())
                                + " other shapes need XNNPACK and TensorFlow Lite 2.20 or later");
            }
            requireFitting(file, mix.get());
            return model.at(mix.get());
        } catch (EngineException | UnplannableException e) {
            throw new IllegalStateException(
                    "the TFLite engine cannot be used: " + e.getMessage(), e);
        }
    }

    /** Refuses shapes that predictions cannot have, or that they have as those in the file. */
    private static void requireFitting(Path file, ShapeMix mix)
            throws IOException, UnplannableException {
        try (OpenModel model = OpenModel.of(file)) {
            if (model.keepsState()) {
                throw new IllegalStateException(
                        "the model keeps state: such a model is not delegated at other shapes");
            }
            Graph graph = model.graph();
            List<List<Integer>> inFile =
                    graph.inputs().stream().map(id -> graph.tensors().get(id).shape()).toList();
            for (List<List<Integer>> shapes : mix.shapes()) {
                List<List<Integer>> effective =
                        InputShapes.effective(
                                model.inputsBeforeShapes(),
                                inFile,
                                model.inputSignatures(),
                                shapes);
                if (!effective.equals(shapes)) {
                    throw new IllegalStateException(
                            "inputs of %s are run as %s".formatted(shapes, effective));
                }
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static void requireShapes(Path file) throws IOException, UnplannableException {
        try (OpenModel model = OpenModel.of(file)) {
            if (model.waitsForShapes()) {
                throw new IllegalStateException(
                        "the shapes in the file are placeholders of %s: give --input-shape"
                                .formatted(model.inputSignatures()));
            }
        }
    }
}
