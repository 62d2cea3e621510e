package org.djlplan.memplan.internal.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A {@code .tflite} model whose candidates can be measured in a child process.
 *
 * @param file the model's file
 * @param identity of the file that was loaded
 * @param graph the graph in the file
 * @param cacheFolder the folder for files that cannot be stored next to the model
 * @param options the model's options
 * @param library the engine's native library
 * @param mix the shapes at which the model is measured; empty for the shapes in the file
 */
public record TfLiteDelegableModel(
        Path file,
        String identity,
        Graph graph,
        Path cacheFolder,
        PlanOptions options,
        EngineLibrary library,
        Optional<ShapeMix> mix)
        implements DelegableModel {

    /** Changes when earlier measurements are not comparable with new ones. */
    private static final String METHOD = "3";

    /**
     * Returns whether the delegate can be measured at other shapes than those in the file, and the
     * options allow it.
     */
    public boolean takesOtherShapes() {
        return options.delegatesEveryShape() && isMeasurableAtOtherShapes();
    }

    /** Returns whether the delegate can be measured at other shapes than those in the file. */
    public boolean isMeasurableAtOtherShapes() {
        return Delegates.isPartOfEngine(delegate()) && library.offersTransientBuffers();
    }

    /** Returns the same model at other shapes of its inputs. */
    public TfLiteDelegableModel at(ShapeMix other) {
        return new TfLiteDelegableModel(
                file, identity, graph, cacheFolder, options, library, Optional.of(other));
    }

    @Override
    public int threads() {
        return options.threads();
    }

    /**
     * Returns the delegate's name. If shapes change often, XNNPACK's is the mode that builds
     * indirection buffers for each prediction, because otherwise it would build them for each
     * change anyway, and keep them.
     */
    @Override
    public String delegate() {
        return buildsBuffersAnew() ? Delegates.XNNPACK_TRANSIENT : options.delegate();
    }

    private boolean buildsBuffersAnew() {
        return mix.map(ShapeMix::changesOften).orElse(false)
                && options.delegate().equals(Delegates.XNNPACK);
    }

    /** Returns a choice for {@link #delegate()} as a choice for the delegate of the options. */
    public DelegationChoice served(DelegationChoice choice) {
        return buildsBuffersAnew() ? choice.withTransientBuffers() : choice;
    }

    @Override
    public boolean offersTransientBuffers() {
        return delegate().equals(Delegates.XNNPACK) && library.offersTransientBuffers();
    }

    @Override
    public Map<String, String> facts() {
        ImmutableMap.Builder<String, String> facts =
                ImmutableMap.<String, String>builder()
                        .put("engine", "TFLite")
                        .put("native", library.version())
                        .put("delegate", identity(delegate()))
                        .put("measuring", METHOD);
        mix.ifPresent(m -> facts.put(SHAPES, m.toString()));
        return facts.buildOrThrow();
    }

    @Override
    public long neededBytes() {
        return need().bytes();
    }

    private MemoryNeed need() {
        return MemoryNeed.of(graph, mix.map(this::growth).orElse(1.0));
    }

    /** Returns the largest factor, at least 1, by which inputs are larger than in the file. */
    private double growth(ShapeMix of) {
        double inFile =
                ShapeMix.elements(
                        graph.inputs().stream()
                                .map(id -> graph.tensors().get(id).shape())
                                .toList());
        return Math.max(1, of.mostElements() / Math.max(1, inFile));
    }

    @Override
    public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException {
        OpenModelRequest measured =
                new OpenModelRequest(
                        file, identity, delegate(), tolerance, library.file(), need(), mix);
        return ProcessRunner.start(measured, urgency);
    }

    @Override
    public Optional<String> obstacle() {
        return ProcessRunner.obstacle();
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
