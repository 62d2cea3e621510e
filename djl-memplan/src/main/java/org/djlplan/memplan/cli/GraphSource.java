package org.djlplan.memplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.graph.Graph;

/**
 * Where commands get the graph of a model from.
 *
 * @param file reads a {@code .tflite} file alone
 * @param live opens it in the engine, which adds the kernels' temporaries
 * @param block runs an imperative block once and looks on
 */
record GraphSource(Reader file, Reader live, BlockReader block) {

    /** Turns an imperative block into its graph. */
    @FunctionalInterface
    interface BlockReader {

        /**
         * Returns the graph of the block.
         *
         * @param inputs one per input, or none if the block has usual ones
         */
        Graph read(ModelRef block, List<InputSpec> inputs);
    }

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
