package org.djlplan.memplan.internal.runtime.tflite;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.djlplan.memplan.errors.UnsoundModelException;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.config.Threads;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model file that was mapped, verified and passed to the engine. Must be closed once, after its
 * last session.
 */
public final class OpenModel implements AutoCloseable {

    /**
     * The file that was read last, as long as it is in memory: the engine's own model and the
     * planned one are opened one after the other.
     */
    private static final AtomicReference<WeakReference<Content>> LATEST =
            new AtomicReference<>(new WeakReference<>(null));

    private final Path file;
    private final MappedFile mapping;
    private final Content content;
    private final Graph graph;
    private final NativeLoader.Use use;
    private final Pointer handle;

    /**
     * Whether the CPU kernels have prepared the model with our checks before and after each kernel.
     * Guarded by this.
     */
    private boolean sound;

    private OpenModel(Path file, String name, MappedFile mapping, NativeLoader.Use use)
            throws IOException, UnplannableException {
        this.file = file;
        this.mapping = mapping;
        this.use = use;
        content = Content.of(mapping, file, name);
        graph = content.graph();
        // The handle comes last: nothing fails between it and the object that deletes it.
        handle = TfLiteNative.djlplan_tflite_model_create(mapping.address(), mapping.lengthBytes());
        if (handle == null) {
            throw new UnplannableException("the engine does not take the file");
        }
    }

    /**
     * The content of a file, without references to its bytes.
     *
     * @param identity {@link MappedFile#identity} of the file
     */
    private record Content(
            Path file,
            String identity,
            Graph graph,
            ImmutableList<List<Integer>> inputSignatures,
            ImmutableList<List<Integer>> outputSignatures,
            boolean keepsState) {

        static Content of(MappedFile mapping, Path file, String name) throws TfLiteFormatException {
            Content latest = LATEST.get().get();
            if (latest != null
                    && latest.file.equals(file)
                    && latest.identity.equals(mapping.identity())
                    && latest.graph.name().equals(name)) {
                return latest;
            }
            TfLiteFile read = TfLiteReader.read(mapping.bytes(), file.toString());
            TfLiteSubgraph main = read.main();
            Content content =
                    new Content(
                            file,
                            mapping.identity(),
                            TfLiteGraphs.toGraph(read, name),
                            signatures(main, main.inputs()),
                            signatures(main, main.outputs()),
                            read.keepsState());
            if (mapping.isSettled()) {
                LATEST.set(new WeakReference<>(content));
            }
            return content;
        }
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
     * @param file the model's file, or a copy of it
     * @param name the user's name for the model
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    public static OpenModel of(Path file, String name) throws IOException, UnplannableException {
        try {
            return of(MappedFile.open(file), file, name);
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    /**
     * Opens a model that is mapped, even if its file was replaced since.
     *
     * @param mapping of the file, closed with the model, or if it cannot be opened
     * @throws IOException if the file is damaged
     * @throws UnplannableException if there is no engine that takes it
     */
    public static OpenModel of(MappedFile mapping, Path file)
            throws IOException, UnplannableException {
        return of(mapping, file, file.getFileName().toString());
    }

    private static OpenModel of(MappedFile mapping, Path file, String name)
            throws IOException, UnplannableException {
        NativeLoader.Use use = null;
        try {
            use = TfLiteNative.use();
            return new OpenModel(file, name, mapping, use);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            mapping.close();
            if (use != null) {
                use.close();
            }
            throw e;
        }
    }

    private static ImmutableList<List<Integer>> signatures(
            TfLiteSubgraph graph, List<Integer> ids) {
        ImmutableList.Builder<List<Integer>> signatures = ImmutableList.builder();
        for (int id : ids) {
            TfLiteTensor tensor = graph.tensors().get(id);
            signatures.add(tensor.shape().contains(-1) ? tensor.shape() : tensor.shapeSignature());
        }
        return signatures.build();
    }

    public Path file() {
        return file;
    }

    /** Returns the graph as the file has it. */
    public Graph graph() {
        return graph;
    }

    /**
     * Returns whether the model keeps values from one prediction to the next. Each interpreter has
     * its own, so only one may serve.
     */
    public boolean keepsState() {
        return content.keepsState();
    }

    /**
     * Returns the shapes of the inputs with −1 for each dimension that the model leaves to its
     * caller; an empty shape if the file does not say.
     */
    public ImmutableList<List<Integer>> inputSignatures() {
        return content.inputSignatures();
    }

    /**
     * Returns whether the model leaves dimensions of its inputs to the caller. The file's
     * dimensions may then be placeholders, with which nothing can be allocated.
     */
    public boolean leavesDimensions() {
        return inputSignatures().stream().anyMatch(signature -> signature.contains(-1));
    }

    /**
     * Returns whether the shapes in the file are placeholders: the engine cannot allocate the model
     * before it is given others.
     *
     * @throws UnplannableException if it cannot build an interpreter of the model at all
     */
    public boolean waitsForShapes() throws UnplannableException {
        if (!leavesDimensions()) {
            return false;
        }
        try (EngineSession session = sessions().open(EngineSession.Spec.stock(Threads.DEFAULT))) {
            session.allocate();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    /** Returns the inputs before shapes are known; unknown dimensions are −1. */
    public ImmutableList<TensorInfo> inputsBeforeShapes() {
        return beforeShapes(graph.inputs(), content.inputSignatures());
    }

    /** Returns the outputs as {@link #inputsBeforeShapes} does. */
    public ImmutableList<TensorInfo> outputsBeforeShapes() {
        return beforeShapes(graph.outputs(), content.outputSignatures());
    }

    private ImmutableList<TensorInfo> beforeShapes(
            List<Integer> ids, List<List<Integer>> signatures) {
        ImmutableList.Builder<TensorInfo> infos = ImmutableList.builder();
        for (int i = 0; i < ids.size(); i++) {
            Tensor tensor = graph.tensors().get(ids.get(i));
            List<Integer> known = signatures.get(i);
            infos.add(
                    new TensorInfo(
                            tensor.name(),
                            tensor.type(),
                            known.size() == tensor.shape().size() ? known : tensor.shape(),
                            0));
        }
        return infos.build();
    }

    /** Returns {@link MappedFile#identity} of the file. */
    public String identity() {
        return mapping.identity();
    }

    /** Returns the file's bytes; never to be used after {@link #close()}. */
    public ByteBuffer bytes() {
        return mapping.bytes();
    }

    /** Returns whether the file has the size and time that it had when it was opened. */
    public boolean intact() {
        return mapping.intact();
    }

    /**
     * Returns the file's pages in memory to the system, which reads them again when they are
     * needed. To be called when a delegate has packed the weights into its own memory.
     */
    public void releasePages() {
        mapping.releasePages();
    }

    /** Returns the source of the engine's sessions of this model. */
    public EngineSession.Source sessions() {
        return new EngineSession.Source() {
            @Override
            public EngineSession open(EngineSession.Spec spec) throws UnplannableException {
                List<List<Integer>> shapes =
                        spec.delegated().map(EngineSession.Delegated::shapes).orElse(List.of());
                if (!shapes.isEmpty()) {
                    return delegatedAt(shapes, spec);
                }
                if (spec.delegated().isPresent()) {
                    requireSound();
                }
                return TfLiteSession.create(handle, spec);
            }

            /**
             * If the engine's own planner lets operators overwrite inputs, its arena is hard to
             * improve.
             */
            @Override
            public boolean placesOutputs() {
                return TfLiteNative.djlplan_tflite_tells_in_place() != 0;
            }
        };
    }

    /** Returns a session whose constants are loaded while it runs. */
    TfLiteSession streamed(int threads) throws UnplannableException {
        return streamed(threads, session -> {});
    }

    /**
     * Returns a session whose constants are loaded while it runs, except those that a delegate
     * packs.
     *
     * @param delegate outlives the session
     */
    TfLiteSession streamed(int threads, DelegatedPart part, NativeDelegate delegate)
            throws UnplannableException {
        requireSound();
        EngineSession.Delegated delegated =
                new EngineSession.Delegated(delegate, part.operators(), List.of());
        Map<Integer, Pointer> constants =
                part.original().map(original -> constantsIn(original, part)).orElse(Map.of());
        return streamed(threads, session -> session.delegate(delegated, constants));
    }

    private TfLiteSession streamed(int threads, Consumer<TfLiteSession> more)
            throws UnplannableException {
        return TfLiteSession.streamed(handle, threads, EngineView.plannable(graph, false), more);
    }

    /**
     * Returns the addresses, in the original model, of the constants that the part's operators
     * read.
     */
    private Map<Integer, Pointer> constantsIn(OpenModel original, DelegatedPart part) {
        Map<Integer, Pointer> constants = new TreeMap<>();
        for (int operator : part.operators()) {
            for (int id : graph.operators().get(operator).inputs()) {
                if (original.hasConstantOf(graph.tensors().get(id))) {
                    FileRegion region = original.graph.tensors().get(id).region().orElseThrow();
                    constants.put(id, original.mapping.address().share(region.offsetBytes()));
                }
            }
        }
        return constants;
    }

    /** Returns whether this file has a constant equal to another file's tensor of the same id. */
    public boolean hasConstantOf(Tensor tensor) {
        return tensor.storage() == Storage.CONSTANT
                && tensor.id() < graph.tensors().size()
                && isLike(graph.tensors().get(tensor.id()), tensor);
    }

    private static boolean isLike(Tensor own, Tensor other) {
        return own.storage() == Storage.CONSTANT
                && own.region().isPresent()
                && own.type() == other.type()
                && own.bytes() == other.bytes()
                && own.shape().equals(other.shape());
    }

    /**
     * Returns the partitions that a delegate reports when it may take everything it supports: sets
     * of operators, by index. Nothing is run.
     *
     * @throws UnplannableException if the delegate cannot be made or cannot look at the model
     */
    public List<Set<Integer>> partitions(DelegateFactory delegates) throws UnplannableException {
        try (NativeDelegate delegate = Delegates.create(delegates, 1, Optional.empty())) {
            return TfLiteSession.partitions(handle, 1, delegate);
        }
    }

    /**
     * Lets the CPU kernels prepare once, with our checks before and after each, before a delegate
     * sees the model, because a delegate's own kernels are not checked.
     *
     * @throws UnplannableException if a kernel must not run with the file's contents
     */
    private synchronized void requireSound() throws UnplannableException {
        if (!sound) {
            prepared(List.of()).close();
            sound = true;
        }
    }

    /**
     * Returns a session of the CPU kernels, each prepared with our checks before and after it.
     *
     * @param shapes of the inputs; empty for those in the file
     */
    private TfLiteSession prepared(List<List<Integer>> shapes) throws UnplannableException {
        TfLiteSession session =
                TfLiteSession.create(handle, EngineSession.Spec.stock(Threads.DEFAULT));
        try {
            for (int i = 0; i < shapes.size(); i++) {
                session.resize(i, shapes.get(i));
            }
            session.allocate();
        } catch (IllegalStateException e) {
            // The CPU kernels cannot prepare operators that only the delegate has.
            if (e instanceof UnsoundModelException || !hasCustomOperators()) {
                session.close();
                throw new UnplannableException(e.getMessage());
            }
        } catch (RuntimeException | Error e) {
            session.close();
            throw e;
        }
        return session;
    }

    /** Returns a session whose delegate takes its operators at other shapes than in the file. */
    private EngineSession delegatedAt(List<List<Integer>> shapes, EngineSession.Spec spec)
            throws UnplannableException {
        try (TfLiteSession cpu = prepared(shapes)) {
            return TfLiteSession.create(handle, spec, Optional.of(cpu));
        }
    }

    private boolean hasCustomOperators() {
        return graph.operators().stream().anyMatch(o -> o.type().startsWith("CUSTOM:"));
    }

    @Override
    public void close() {
        TfLiteNative.djlplan_tflite_model_delete(handle);
        mapping.close();
        use.close();
    }
}
