package org.djlplan.memplan.measure;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.RuntimeOptions;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;

/**
 * A {@code .tflite} model that can be measured.
 *
 * @param file the model's file
 * @param graph as the file has it
 * @param delegate as in {@code delegation.delegate}
 * @param cacheFolder for what cannot be kept next to the model
 * @param options how it is planned and run
 * @param library the engine's native library
 */
public record MeasurableModel(
        Path file,
        Graph graph,
        String delegate,
        Path cacheFolder,
        RuntimeOptions options,
        EngineLibrary library)
        implements DelegableModel {

    /** Changes when figures that were measured before can no longer be compared with new ones. */
    private static final String METHOD = "1";

    private static final String TRUSTED = "xnnpack";

    @Override
    public int threads() {
        return options.threads();
    }

    @Override
    public boolean trusted() {
        return delegate.equals(TRUSTED);
    }

    @Override
    public Map<String, String> facts() {
        return ImmutableMap.of(
                "engine",
                "TFLite",
                "native",
                library.version(),
                "delegate",
                DelegateIdentity.of(delegate),
                "measuring",
                METHOD);
    }

    @Override
    public CandidateRunner newProcess() throws IOException {
        return ProcessRunner.start(measured(), MeasuringJvm.DEFAULT, Limits.DEFAULT);
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if the model cannot be opened
     */
    @Override
    public CandidateRunner inThisProcess() {
        try {
            return MeasuringProcess.open(measured());
        } catch (IOException | UnplannableException e) {
            throw new IllegalStateException(file + ": " + e.getMessage(), e);
        }
    }

    private MeasuredModel measured() {
        return new MeasuredModel(file, delegate, options, library.file());
    }
}
