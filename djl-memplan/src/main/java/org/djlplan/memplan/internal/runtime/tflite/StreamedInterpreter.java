package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.DerivedConstant;
import org.djlplan.memplan.internal.budget.Schedule;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.TfLiteSession.Derived;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An interpreter of the engine for a model whose weights are loaded while the interpreter runs:
 * activations, temporaries and pieces of the weights lie in one arena, according to a {@link
 * Schedule}. Not thread-safe.
 */
public final class StreamedInterpreter implements AutoCloseable {

    private final TfLiteSession session;

    /** Freed after the session. */
    private final Optional<NativeDelegate> delegate;

    private final Graph graph;
    private final SessionTensors io;
    private final ImmutableList<Derived> derived;
    private final WeightStream stream;

    /** Whether a first inference has ended, so that kernels have derived their constants. */
    private boolean primed;

    private Optional<Schedule> schedule = Optional.empty();

    private StreamedInterpreter(
            TfLiteSession session,
            Optional<NativeDelegate> delegate,
            Graph graph,
            SessionTensors io,
            ImmutableList<Derived> derived,
            WeightStream stream) {
        this.session = session;
        this.delegate = delegate;
        this.graph = graph;
        this.io = io;
        this.derived = derived;
        this.stream = stream;
    }

    /**
     * Builds an interpreter. It can run once it has a schedule.
     *
     * @param model not closed with the result; each large constant begins a page of its file
     * @param threads number of threads, −1 for the engine's default
     * @param shapes of the inputs; empty for those in the file
     * @param way how constants get from the file to the arena
     * @throws IOException if the file cannot be opened
     * @throws UnplannableException if the engine refuses, or sizes are known only at run time
     */
    public static StreamedInterpreter open(
            OpenModel model, int threads, List<List<Integer>> shapes, WeightStream.Io way)
            throws IOException, UnplannableException {
        return open(model, model.streamed(threads), Optional.empty(), shapes, way);
    }

    /**
     * Builds an interpreter for the shapes in the file; a delegate runs a part of it. It can run
     * once it has a schedule.
     *
     * @param model not closed with the result; each large constant begins a page of its file
     * @param part the delegated operators; their original may be closed afterwards
     * @throws IOException if the file cannot be opened
     * @throws UnplannableException if the engine or the delegate refuses
     */
    public static StreamedInterpreter open(
            OpenModel model, int threads, DelegatedPart part, WeightStream.Io way)
            throws IOException, UnplannableException {
        List<OpenModel> read = new ArrayList<>(List.of(model));
        part.original().ifPresent(read::add);
        NativeDelegate delegate = Delegates.create(part.delegates(), threads, Optional.empty());
        Optional<PageRelease> release = Optional.empty();
        try {
            release = Optional.of(PageRelease.of(read));
            TfLiteSession session = model.streamed(threads, part, delegate);
            return open(model, session, Optional.of(delegate), List.of(), way);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            delegate.close();
            throw e;
        } finally {
            release.ifPresent(PageRelease::close);
        }
    }

    private static long noPlace(int output) {
        throw new IllegalStateException("output " + output + " is not in the engine's memory");
    }

    /**
     * Builds an interpreter that owns the session. If that fails, the session is closed, and the
     * delegate remains the caller's.
     */
    private static StreamedInterpreter open(
            OpenModel model,
            TfLiteSession session,
            Optional<NativeDelegate> delegate,
            List<List<Integer>> shapes,
            WeightStream.Io way)
            throws IOException, UnplannableException {
        try {
            for (int i = 0; i < shapes.size(); i++) {
                session.resize(i, shapes.get(i));
            }
            session.allocate();
            if (delegate.isEmpty()) {
                EngineView.requireChosen(session.nodes(), Set.of());
            }
            Graph graph = EngineView.live(model.graph(), session).graph();
            SessionTensors io =
                    new SessionTensors(graph, session.tensors(), StreamedInterpreter::noPlace);
            ImmutableList<Derived> derived = session.derived();
            // The stream comes last: nothing fails between it and the object that closes it.
            return new StreamedInterpreter(
                    session, delegate, graph, io, derived, WeightStream.open(model.file(), way));
        } catch (UnsupportedPlatformException | IllegalStateException e) {
            session.close();
            throw new UnplannableException(e.getMessage());
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            session.close();
            throw e;
        } finally {
            // The engine read each constant's length, and the system mapped the pages around it.
            model.releasePages();
        }
    }

    /** Returns the engine's graph, with kernels' temporaries. */
    public Graph graph() {
        return graph;
    }

    public ImmutableList<TensorInfo> inputs() {
        return io.inputInfos();
    }

    public ImmutableList<TensorInfo> outputs() {
        return io.outputInfos();
    }

    /**
     * Returns what kernels derive from constants.
     *
     * @param begin offset of the derived tensors in the file of the weights; empty while they are
     *     not there
     */
    public ImmutableList<DerivedConstant> derived(Optional<Long> begin) {
        ImmutableList.Builder<DerivedConstant> all = ImmutableList.builder();
        long[] offsets = derivedOffsets(begin.orElse(0L));
        for (int i = 0; i < derived.size(); i++) {
            Derived each = derived.get(i);
            FileRegion region =
                    new FileRegion(offsets[i], graph.tensors().get(each.tensor()).bytes());
            all.add(
                    new DerivedConstant(
                            each.step(),
                            each.tensor(),
                            each.constant(),
                            begin.map(unused -> region)));
        }
        return all.build();
    }

    /**
     * Returns what kernels derive from constants, at the places known from another interpreter of
     * the file, whose kernels derive at least the same.
     *
     * @param whole the result of the other interpreter's {@link #derived(Optional)}
     * @throws UnplannableException if a kernel derives from a constant that the other's do not use
     */
    public ImmutableList<DerivedConstant> derived(List<DerivedConstant> whole)
            throws UnplannableException {
        Map<Integer, DerivedConstant> byConstant = new HashMap<>();
        whole.forEach(each -> byConstant.put(each.constant(), each));
        ImmutableList.Builder<DerivedConstant> all = ImmutableList.builder();
        for (Derived each : derived) {
            DerivedConstant known = byConstant.get(each.constant());
            if (known == null) {
                throw new UnplannableException("a kernel derives something else than before");
            }
            all.add(
                    new DerivedConstant(
                            each.step(), each.tensor(), each.constant(), known.region()));
        }
        return all.build();
    }

    /** Returns the operators of the file that each step runs, in execution order. */
    public List<List<Integer>> operators() {
        return session.nodes().stream().map(EngineSession.LiveNode::operators).toList();
    }

    /** Returns how many operators are delegated. */
    public int delegatedOperators() {
        return session.nodes().stream().mapToInt(node -> node.replaced().size()).sum();
    }

    /** Returns how many delegate kernels run the delegated operators. */
    public int delegateKernels() {
        return (int) session.nodes().stream().filter(EngineSession.LiveNode::delegated).count();
    }

    /** Returns the bytes that {@link #capture} writes from {@code begin} on. */
    public long derivedBytes() {
        long[] offsets = derivedOffsets(0);
        return offsets[derived.size()];
    }

    /** Each derived tensor begins a page; the last offset is the end of the last one. */
    private long[] derivedOffsets(long begin) {
        long[] offsets = new long[derived.size() + 1];
        offsets[0] = begin;
        for (int i = 0; i < derived.size(); i++) {
            long bytes = graph.tensors().get(derived.get(i).tensor()).bytes();
            offsets[i + 1] = offsets[i] + WeightUse.roundUp(bytes);
        }
        return offsets;
    }

    /**
     * Sets the schedule.
     *
     * @throws UnplannableException if the schedule does not fit the engine's tensors, or there is
     *     no memory
     */
    public void schedule(Schedule wanted) throws UnplannableException {
        schedule = Optional.empty();
        install(wanted);
        schedule = Optional.of(wanted);
    }

    private void install(Schedule wanted) throws UnplannableException {
        try {
            stream.schedule(wanted);
        } catch (RuntimeException e) {
            throw new UnplannableException(e.getMessage());
        }
        if (!session.bind(stream, wanted)) {
            throw new UnplannableException(session.error());
        }
    }

    /**
     * Runs once on zeros, and writes the derived tensors into the file from {@code begin} on, each
     * at a page's beginning. The schedule must load the constants that they are derived from.
     *
     * @throws IOException if it cannot be written or read
     */
    public void capture(Path file, long begin) throws IOException {
        try {
            session.invokeCapturing(file, derivedOffsets(begin));
        } catch (IllegalStateException e) {
            throw new IOException(e.getMessage(), e);
        }
        primed = true;
    }

    /**
     * Makes kernels use the derived tensors in the file instead of deriving them: they run once
     * without any weights, and overwrite nothing but the arena. Does nothing after a first
     * inference.
     *
     * @throws UnplannableException if the engine fails
     */
    public void prime() throws UnplannableException {
        Schedule wanted = schedule.orElseThrow();
        if (primed || derived.isEmpty()) {
            return;
        }
        install(withoutLoads(wanted));
        try {
            checkState(session.invokeStreamed(), "the plan does not fit: %s", session.error());
        } catch (IllegalStateException e) {
            throw new UnplannableException(e.getMessage());
        }
        primed = true;
        install(wanted);
    }

    private Schedule withoutLoads(Schedule wanted) {
        Map<Integer, Derived> byTensor = new HashMap<>();
        derived.forEach(each -> byTensor.put(each.tensor(), each));
        List<Schedule.Binding> bindings = new ArrayList<>(wanted.bindings());
        for (Schedule.Binding binding : wanted.bindings()) {
            Derived made = byTensor.get(binding.tensor());
            if (made != null) {
                // The kernel transposes it in place; the result is never used.
                bindings.add(
                        new Schedule.Binding(
                                binding.step(), made.constant(), binding.offsetBytes()));
            }
        }
        bindings.sort(Comparator.comparingInt(Schedule.Binding::step));
        return new Schedule(
                wanted.arenaBytes(),
                wanted.places(),
                List.of(),
                wanted.needs().stream().map(need -> 0).toList(),
                bindings,
                wanted.elided());
    }

    /**
     * Predicts.
     *
     * @throws IllegalStateException if weights cannot be read or the engine fails
     */
    public List<OutputTensor> run(List<ByteBuffer> values) {
        checkState(primed || derived.isEmpty(), "kernels have not been primed");
        io.fill(values);
        checkState(session.invokeStreamed(), "the plan no longer fits: %s", session.error());
        return io.results(Optional.empty());
    }

    /** Returns the nanoseconds of each step in the last inference, waiting included. */
    public long[] times() {
        return session.times();
    }

    public WeightStream stream() {
        return stream;
    }

    /** Returns the bytes that the engine allocates: inputs, outputs and persistent tensors. */
    public long ownBytes() {
        return EngineView.arenaBytes(session.tensors());
    }

    @Override
    public void close() {
        session.close();
        delegate.ifPresent(NativeDelegate::close);
        stream.close();
    }
}
