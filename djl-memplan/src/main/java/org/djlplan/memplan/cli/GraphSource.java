package org.djlplan.memplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.graph.Graph;

/**
 * Where commands get the graph of a {@code .tflite} file from.
 *
 * @param file reads the file alone
 * @param live opens it in the engine, which adds the kernels' temporaries
 */
record GraphSource(Reader file, Reader live) {

    /** Turns a model file into its graph. */
    @FunctionalInterface
    interface Reader {

        /**
         * Returns the graph of the model.
         *
         * @throws IOException if the file cannot be read or is no model
         */
        Graph read(Path model) throws IOException;
    }
}
