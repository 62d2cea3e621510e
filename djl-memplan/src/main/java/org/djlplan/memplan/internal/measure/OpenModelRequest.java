package org.djlplan.memplan.internal.measure;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The request to a measuring process to open a TensorFlow Lite model.
 *
 * @param file the model's file
 * @param identity of the file that was loaded; another file is not opened
 * @param delegate value of {@code delegation.delegate}
 * @param tolerance the tolerance for the outputs
 * @param engineLibrary the engine's native library
 * @param need the memory that the process needs
 * @param mix the shapes of the inputs; empty for those in the file
 */
record OpenModelRequest(
        Path file,
        String identity,
        String delegate,
        Tolerance tolerance,
        Path engineLibrary,
        MemoryNeed need,
        Optional<ShapeMix> mix)
        implements ModelRequest {

    OpenModelRequest {
        file = file.toAbsolutePath();
        engineLibrary = engineLibrary.toAbsolutePath();
    }

    @Override
    public int niceness() {
        return 19;
    }

    @Override
    public CandidateRunner open() throws IOException, UnplannableException {
        // Loading the library without DJL's engine makes the process start faster.
        EngineLibrary.load(engineLibrary);
        return CandidateInterpreters.open(file, identity, delegate, tolerance, mix);
    }
}
