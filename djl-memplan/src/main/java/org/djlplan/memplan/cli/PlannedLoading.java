package org.djlplan.memplan.cli;

import ai.djl.engine.Engine;
import ai.djl.translate.TranslatorFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.tflite.EngineView;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;

/** The one place where the commands meet what plans and runs models. */
final class PlannedLoading {

    /** The argument that sets the number of threads of a planned model. */
    static final String THREADS_ARGUMENT = "memplan.threads";

    private static final int ENGINE_DEFAULT = -1;

    private PlannedLoading() {}

    /** Returns the factory that makes DJL load a model planned. */
    static TranslatorFactory translatorFactory() {
        return new PlannedTranslatorFactory();
    }

    /** Returns the bytes of the stock engine's own arena for a model, or empty if unknown. */
    static OptionalLong stockArenaBytes(Path model, EngineKind engine, OptionalInt threads) {
        if (engine != EngineKind.TFLITE) {
            return OptionalLong.empty();
        }
        try {
            EngineView view = EngineView.of(model, threads.orElse(ENGINE_DEFAULT));
            return OptionalLong.of(view.arenaBytes());
        } catch (IOException | UnplannableException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns how commands read the graph of a {@code .tflite} file. */
    static GraphSource graphs() {
        return new GraphSource(PlannedLoading::readFile, PlannedLoading::askEngine);
    }

    private static Graph readFile(Path model) throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(model), model.getFileName().toString());
    }

    private static Graph askEngine(Path model) throws IOException {
        Engine.getEngine(EngineKind.TFLITE.engineName()).newBaseManager().close();
        try {
            return EngineView.of(model, ENGINE_DEFAULT).graph();
        } catch (UnplannableException e) {
            throw new Failure(model + ": " + e.getMessage(), e);
        }
    }
}
