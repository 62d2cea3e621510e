package org.djlplan.memplan.runtime.tflite;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;

/**
 * A model file that was mapped, verified and handed to the engine. To be closed once, after the
 * last interpreter of it.
 *
 * @param file where it lies
 * @param mapping its bytes
 * @param graph the model as the file has it
 * @param handle the engine's model
 */
record OpenModel(Path file, MappedFile mapping, Graph graph, Pointer handle)
        implements AutoCloseable {

    /**
     * Opens a model.
     *
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    static OpenModel of(Path file) throws IOException, UnplannableException {
        return of(OrderedModel.asInFile(file));
    }

    /**
     * Opens a model, perhaps in another order than its own file's.
     *
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    static OpenModel of(OrderedModel model) throws IOException, UnplannableException {
        Path file = model.file();
        TfLiteNative.require();
        MappedFile mapping = map(file);
        try {
            Graph graph =
                    TfLiteGraphs.toGraph(
                            TfLiteReader.read(mapping.bytes(), file.toString()),
                            model.original().getFileName().toString());
            Pointer handle =
                    TfLiteNative.djlplan_tflite_model_create(
                            mapping.address(), mapping.lengthBytes());
            if (handle == null) {
                throw new UnplannableException("the engine does not take the file");
            }
            return new OpenModel(file, mapping, graph, handle);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            mapping.close();
            throw e;
        }
    }

    private static MappedFile map(Path file) throws IOException, UnplannableException {
        try {
            return MappedFile.open(file);
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    /** Returns what makes the engine's interpreters of it. */
    EngineSession.Source sessions() {
        return spec -> TfLiteSession.create(handle, spec);
    }

    @Override
    public void close() {
        TfLiteNative.djlplan_tflite_model_delete(handle);
        mapping.close();
    }
}
