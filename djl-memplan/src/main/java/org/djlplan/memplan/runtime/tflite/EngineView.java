package org.djlplan.memplan.runtime.tflite;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;

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
        TfLiteNative.require();
        try (MappedFile mapping = MappedFile.open(file)) {
            Graph graph =
                    TfLiteGraphs.toGraph(
                            TfLiteReader.read(mapping.bytes(), file.toString()),
                            file.getFileName().toString());
            Pointer model =
                    TfLiteNative.djlplan_tflite_model_create(
                            mapping.address(), mapping.lengthBytes());
            if (model == null) {
                throw new UnplannableException("the engine does not take the file");
            }
            try (TfLiteSession session = TfLiteSession.create(model, threads, List.of(), false)) {
                session.allocate();
                return new EngineView(
                        LiveGraph.of(graph, session),
                        LiveGraph.engineArenaBytes(session.tensors()));
            } finally {
                TfLiteNative.djlplan_tflite_model_delete(model);
            }
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        } catch (IllegalStateException e) {
            throw new UnplannableException(e.getMessage());
        }
    }
}
