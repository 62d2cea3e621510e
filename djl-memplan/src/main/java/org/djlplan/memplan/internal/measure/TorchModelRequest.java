package org.djlplan.memplan.internal.measure;

import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.internal.rewrite.RecipeTrials;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The request to a measuring process to open a TorchScript model. It contains inputs of the
 * application's predictions, and is sent through a pipe, never through a file.
 *
 * @param file the model's file
 * @param identity of the file that was loaded; another file is not opened
 * @param requests predictions of the application
 * @param tolerance the tolerance for the outputs
 * @param threads the engine's threads for each operator
 * @param need the memory that the process needs
 */
record TorchModelRequest(
        Path file,
        String identity,
        SampledRequests requests,
        Tolerance tolerance,
        int threads,
        MemoryNeed need)
        implements ModelRequest {

    private static final String THREADS = "ai.djl.pytorch.num_threads";

    TorchModelRequest {
        file = file.toAbsolutePath();
    }

    @Override
    public boolean usesDjl() {
        return true;
    }

    /** Loading libtorch and each candidate takes many seconds of processor time. */
    @Override
    public int niceness() {
        return 10;
    }

    /** Outputs may be much larger than inputs; nothing is known of them before a prediction. */
    @Override
    public long mostHeapBytes() {
        return MemoryNeed.MOST_HEAP_BYTES;
    }

    @Override
    public CandidateRunner open() throws IOException, UnsupportedPlatformException {
        if (threads > 0) {
            // Read when the engine is loaded.
            System.setProperty(THREADS, Integer.toString(threads));
        }
        return RecipeTrials.open(file, identity, requests, tolerance);
    }
}
