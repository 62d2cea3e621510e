package org.djlplan.memplan.measure;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.candidates.CandidateInterpreters;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.measure.MeasuringChild.Limits;
import org.djlplan.memplan.measure.MeasuringChild.NoProcessException;
import org.djlplan.memplan.runtime.tflite.Delegates;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;

/**
 * A {@code .tflite} model whose candidates can be measured in a child process.
 *
 * @param file of the model
 * @param graph as in the file
 * @param cacheFolder for files that cannot be stored next to the model
 * @param options of the model
 * @param library the engine's native library
 */
public record TfLiteDelegableModel(
        Path file, Graph graph, Path cacheFolder, PlanOptions options, EngineLibrary library)
        implements DelegableModel {

    /** Changes when earlier measurements are not comparable with new ones. */
    private static final String METHOD = "2";

    /** Why no process could be started; it does not change while this JVM runs. */
    private static volatile Optional<String> noProcess = Optional.empty();

    @Override
    public int threads() {
        return options.threads();
    }

    @Override
    public String delegate() {
        return options.delegate();
    }

    @Override
    public boolean trusted() {
        return Delegates.isPartOfEngine(delegate());
    }

    @Override
    public boolean offersTransientBuffers() {
        return delegate().equals(Delegates.XNNPACK) && library.offersTransientBuffers();
    }

    @Override
    public Map<String, String> facts() {
        return ImmutableMap.of(
                "engine",
                "TFLite",
                "native",
                library.version(),
                "delegate",
                identity(delegate()),
                "measuring",
                METHOD);
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException {
        try {
            return CandidateInterpreters.partitions(file, delegate());
        } catch (IOException | UnplannableException e) {
            throw new CandidateException(Kind.REFUSED, file + ": " + e.getMessage());
        }
    }

    @Override
    public long neededBytes() {
        return MemoryNeed.of(graph).bytes();
    }

    @Override
    public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException {
        OpenModelRequest measured =
                new OpenModelRequest(
                        file, delegate(), tolerance, library.file(), MemoryNeed.of(graph));
        try {
            return ProcessRunner.start(measured, MeasuringJvm.DEFAULT, Limits.of(urgency), urgency);
        } catch (NoProcessException e) {
            noProcess = Optional.of(e.getMessage());
            throw e;
        }
    }

    @Override
    public Optional<String> obstacle() {
        Path java = MeasuringJvm.DEFAULT.java();
        return Files.isExecutable(java)
                ? noProcess
                : Optional.of("there is no program " + java + " to start a process with");
    }

    /**
     * Returns the name of a delegate and, for a library file, the file's size and modification
     * time.
     *
     * @param delegate value of {@code delegation.delegate}
     */
    static String identity(String delegate) {
        if (!delegate.contains("/")) {
            return delegate;
        }
        try {
            Path library = Path.of(delegate).toAbsolutePath();
            return "%s, %d bytes of %s"
                    .formatted(library, Files.size(library), Files.getLastModifiedTime(library));
        } catch (IOException e) {
            return delegate;
        }
    }
}
