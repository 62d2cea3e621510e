package org.djlplan.memplan.runtime.tflite;

import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.graph.Graph;

/**
 * What the engine makes of a model when nobody interferes.
 *
 * @param graph the model with the sizes that the engine resolved and the kernels' temporaries
 * @param arenaBytes span of the engine's own arena, from its first to its last tensor
 */
public record EngineView(Graph graph, long arenaBytes) {

    /**
     * Opens a model in a stock interpreter, looks, and closes it. The engine must be loaded.
     *
     * @param threads number of threads, −1 for the engine's default
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the engine cannot run it, or sizes are known only at run time
     */
    public static EngineView of(Path file, int threads) throws IOException, UnplannableException {
        try (OpenModel model = OpenModel.of(file);
                TfLiteSession session =
                        TfLiteSession.create(model.handle(), SessionSpec.stock(threads))) {
            session.allocate();
            return new EngineView(
                    LiveGraph.of(model.graph(), session.nodes(), session),
                    LiveGraph.engineArenaBytes(session.tensors()));
        } catch (IllegalStateException e) {
            throw new UnplannableException(e.getMessage());
        }
    }
}
