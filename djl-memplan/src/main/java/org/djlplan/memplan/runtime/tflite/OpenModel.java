package org.djlplan.memplan.runtime.tflite;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.NativeLoader;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;

/**
 * A model file that was mapped, verified and handed to the engine, which reads only what our reader
 * found sound. To be closed once, after the last session of it.
 */
public final class OpenModel implements AutoCloseable {

    private final Path file;
    private final MappedFile mapping;
    private final Graph graph;
    private final Pointer handle;
    private final NativeLoader.Use use;

    private OpenModel(
            Path file, MappedFile mapping, Graph graph, Pointer handle, NativeLoader.Use use) {
        this.file = file;
        this.mapping = mapping;
        this.graph = graph;
        this.handle = handle;
        this.use = use;
    }

    /**
     * Opens a model.
     *
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    public static OpenModel of(Path file) throws IOException, UnplannableException {
        return of(file, file.getFileName().toString());
    }

    /**
     * Opens a model.
     *
     * @param file the model's, or a copy with another order of its operators
     * @param name by which its user knows the model
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    public static OpenModel of(Path file, String name) throws IOException, UnplannableException {
        NativeLoader.Use use = TfLiteNative.use();
        try {
            return of(file, name, use);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }

    private static OpenModel of(Path file, String name, NativeLoader.Use use)
            throws IOException, UnplannableException {
        MappedFile mapping = map(file);
        try {
            Graph graph =
                    TfLiteGraphs.toGraph(TfLiteReader.read(mapping.bytes(), file.toString()), name);
            Pointer handle =
                    TfLiteNative.djlplan_tflite_model_create(
                            mapping.address(), mapping.lengthBytes());
            if (handle == null) {
                throw new UnplannableException("the engine does not take the file");
            }
            return new OpenModel(file, mapping, graph, handle, use);
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

    /** Returns the file that was opened. */
    public Path file() {
        return file;
    }

    /** Returns the graph as the file has it. */
    public Graph graph() {
        return graph;
    }

    /** Returns whether size and time of the file are as they were when it was opened. */
    public boolean intact() {
        return mapping.intact();
    }

    /**
     * Gives the file's pages in memory back to the system, which reads them again when they are
     * needed: to be called when a delegate keeps the weights packed in memory of its own.
     */
    public void releasePages() {
        mapping.releasePages();
    }

    /** Returns what makes the engine's sessions of it. */
    public EngineSession.Source sessions() {
        return spec -> TfLiteSession.create(handle, spec);
    }

    /**
     * Returns the partitions that a delegate reports when it may take everything it supports: sets
     * of operators, by index. Nothing is run.
     *
     * @throws UnplannableException if the delegate cannot be made or cannot look at the model
     */
    public List<Set<Integer>> partitions(DelegateFactory delegates) throws UnplannableException {
        try (NativeDelegate delegate = Delegates.create(delegates, 1)) {
            return TfLiteSession.partitions(handle, 1, delegate);
        }
    }

    @Override
    public void close() {
        TfLiteNative.djlplan_tflite_model_delete(handle);
        mapping.close();
        use.close();
    }
}
