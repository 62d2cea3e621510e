package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.DerivedConstant;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamedGraph;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.StreamingPlanner;
import org.djlplan.memplan.internal.budget.StreamingProblem;
import org.djlplan.memplan.internal.planning.StreamedModel;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.ProcessMemory.NativeHeap;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.DelegatedPart;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.StreamedInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * The only interpreter of a model in a budget: planned for an arena, measured once, and planned
 * again with the measurements. Not thread-safe.
 */
final class BudgetedInterpreter implements AutoCloseable {

    /**
     * The engine's memory beside the arena: structures of nodes and tensors, its threads and their
     * buffers, and the model's small constants.
     */
    static final long ENGINE_BYTES = 5_500_000;

    /**
     * Memory of djl-plan's classes, their compiled code, and freed memory that the C library keeps
     * after a load.
     */
    private static final long CODE_BYTES = 10_000_000;

    /** Packed blocks of operands, of all threads, if kernels run on several. */
    private static final long BLOCKS_BYTES = 5_000_000;

    /** A load begins when a thread wakes up. */
    private static final long NANOS_PER_LOAD = 20_000;

    private final StreamedModel copy;
    private final OpenModel model;
    private final StreamedInterpreter interpreter;
    private final StreamedGraph graph;
    private final StreamingPlanner planner = new StreamingPlanner();

    /** The model's thread, in which all of its interpreters run. */
    private final ExecutorService thread;

    private final List<DerivedConstant> derived;

    /** Growth of the native heap since before this was opened; measured together with its steps. */
    private final HeapGrowth heap;

    private long delegatedBytes;

    /** The time of a prediction in CPU kernels. */
    private long cpuNanos = Long.MAX_VALUE;

    private StepCosts costs;
    private StreamingPlan plan;

    /** The growth of the native heap; unknown if the C library does not report the heap's size. */
    private static final class HeapGrowth {

        private final OptionalLong before = usedBytes();
        private OptionalLong now = OptionalLong.empty();

        private static OptionalLong usedBytes() {
            return ProcessMemory.nativeHeap().stream().mapToLong(NativeHeap::usedBytes).findFirst();
        }

        void measure() {
            now = usedBytes();
        }

        /** Returns how many bytes more than another this is; empty unless both were measured. */
        OptionalLong moreThan(HeapGrowth other) {
            return now.isPresent() && other.now.isPresent()
                    ? OptionalLong.of(bytes() - other.bytes())
                    : OptionalLong.empty();
        }

        private long bytes() {
            return now.getAsLong() - before.getAsLong();
        }
    }

    private BudgetedInterpreter(
            StreamedModel copy,
            OpenModel model,
            StreamedInterpreter interpreter,
            List<DerivedConstant> derived,
            ExecutorService thread,
            HeapGrowth heap) {
        this.copy = copy;
        this.model = model;
        this.interpreter = interpreter;
        this.derived = derived;
        this.thread = thread;
        this.heap = heap;
        graph = new StreamedGraph(interpreter.graph(), copy.views(), derived);
        costs = StepCosts.unknown(graph.steps());
    }

    /**
     * Opens a copy; it can run once it is planned.
     *
     * @param name the user's name for the model
     * @param shapes of the inputs; empty for those in the file
     * @param thread runs it, not shut down with it
     * @throws IOException if the copy cannot be read
     * @throws UnplannableException if the engine cannot run it
     */
    static BudgetedInterpreter open(
            StreamedModel copy,
            String name,
            int threads,
            List<List<Integer>> shapes,
            WeightStream.Io io,
            ExecutorService thread)
            throws IOException, UnplannableException {
        HeapGrowth heap = new HeapGrowth();
        OpenModel model = OpenModel.of(copy.file(), name);
        model.releasePages();
        try {
            StreamedInterpreter interpreter = StreamedInterpreter.open(model, threads, shapes, io);
            try {
                requireDerived(copy, interpreter);
                return new BudgetedInterpreter(
                        copy,
                        model,
                        interpreter,
                        interpreter.derived(copy.derivedBeginBytes()),
                        thread,
                        heap);
            } catch (IOException | RuntimeException | Error e) {
                interpreter.close();
                throw e;
            }
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /**
     * Opens the same copy once more, with some operators delegated.
     *
     * @param part the delegated operators of the file
     * @param predictedBytes predicted memory of the delegate
     * @throws IOException if the copy cannot be read
     * @throws UnplannableException if the engine or the delegate refuses
     */
    BudgetedInterpreter delegating(
            DelegatedPart part, int threads, WeightStream.Io io, long predictedBytes)
            throws IOException, UnplannableException {
        HeapGrowth heapWithDelegate = new HeapGrowth();
        OpenModel own = OpenModel.of(copy.file(), model.graph().name());
        own.releasePages();
        try {
            StreamedInterpreter delegated = StreamedInterpreter.open(own, threads, part, io);
            try {
                BudgetedInterpreter result =
                        new BudgetedInterpreter(
                                copy,
                                own,
                                delegated,
                                delegated.derived(derived),
                                thread,
                                heapWithDelegate);
                result.delegatedBytes = predictedBytes;
                return result;
            } catch (UnplannableException | RuntimeException | Error e) {
                delegated.close();
                throw e;
            }
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    /** Checks that kernels derive the captured tensors; otherwise they would read wrong data. */
    private static void requireDerived(StreamedModel copy, StreamedInterpreter interpreter)
            throws IOException {
        long bytes = interpreter.derivedBytes();
        long captured =
                copy.derivedBeginBytes().isPresent()
                        ? Files.size(copy.file()) - copy.derivedBeginBytes().get()
                        : 0;
        if (bytes != captured) {
            throw new IOException(
                    copy.file()
                            + " has "
                            + captured
                            + " bytes of what kernels derive from weights, not "
                            + bytes);
        }
    }

    /** Returns the bytes that an interpreter takes beside its arena. */
    static long bytesBesideArena(int threads) {
        return ENGINE_BYTES + CODE_BYTES + (threads == 1 ? 0 : BLOCKS_BYTES);
    }

    /**
     * Plans for an arena of a size, minus the delegate's memory, and uses the plan at once.
     *
     * @throws BudgetTooSmallException if there is no such plan; then nothing has changed
     * @throws UnplannableException if the engine refuses it
     */
    void plan(long arenaBytes) throws BudgetTooSmallException, UnplannableException {
        take(planned(arenaBytes));
    }

    /**
     * Returns a plan for an arena of a size, minus the delegate's memory, for {@link #take}.
     *
     * @throws BudgetTooSmallException if there is no such plan
     */
    StreamingPlan planned(long arenaBytes) throws BudgetTooSmallException {
        return planned(costs, arenaBytes);
    }

    /** Returns a plan like {@link #planned(long)}, but with given times of steps. */
    StreamingPlan planned(StepCosts stepCosts, long arenaBytes) throws BudgetTooSmallException {
        StreamingProblem problem = graph.problem(stepCosts);
        long ownBytes = Math.max(1, arenaBytes - delegatedBytes);
        return planner.plan(problem, Math.min(ownBytes, problem.enoughBytes()), graph::nameOf);
    }

    /**
     * Uses a plan.
     *
     * @throws UnplannableException if the engine refuses it
     */
    void take(StreamingPlan found) throws UnplannableException {
        interpreter.schedule(graph.schedule(found));
        plan = found;
    }

    /** Returns the smallest possible arena, including the delegate's memory. */
    long leastArenaBytes() {
        return StreamingPlanner.leastBudgetBytes(graph.problem(costs)) + delegatedBytes;
    }

    /**
     * Runs once on zeros to measure the time of each step, and plans with these times.
     *
     * @param arenaBytes size of the arena
     */
    void calibrate(long arenaBytes) throws BudgetTooSmallException, UnplannableException {
        measure();
        plan(arenaBytes);
        ProcessMemory.trim();
    }

    /**
     * Runs once on zeros, so that the time of each step is known.
     *
     * @throws UnplannableException if the engine fails
     */
    void measure() throws UnplannableException {
        try {
            inThread(
                    () -> {
                        interpreter.prime();
                        return interpreter.run(zeros());
                    });
        } catch (IllegalStateException e) {
            throw new UnplannableException(e.getMessage());
        }
        WeightStream.Counters loaded = interpreter.stream().counters();
        heap.measure();
        double bytesPerNano =
                loaded.loadedNanos() > 0
                        ? (double) loaded.loadedBytes() / loaded.loadedNanos()
                        : costs.loadBytesPerNano();
        costs = new StepCosts(interpreter.times(), bytesPerNano, NANOS_PER_LOAD);
    }

    /**
     * Sets the delegate's memory to the measured growth of the heap, if it is known.
     *
     * @param cpu the interpreter without a delegate, calibrated
     * @param leastBytes a lower bound on the delegate's memory
     */
    void measureDelegate(BudgetedInterpreter cpu, long leastBytes) {
        OptionalLong moreBytes = heap.moreThan(cpu.heap);
        if (moreBytes.isPresent()) {
            delegatedBytes = Math.max(leastBytes, moreBytes.getAsLong());
        }
    }

    /**
     * Notes how long a prediction took in CPU kernels alone.
     *
     * @param nanos the time without other load
     */
    void noteCpuNanos(long nanos) {
        cpuNanos = nanos;
    }

    /**
     * Returns the time of a prediction in CPU kernels if this interpreter delegates, otherwise
     * {@code Long.MAX_VALUE}.
     */
    long cpuNanos() {
        return cpuNanos;
    }

    /** Returns whether a delegate runs some of its operators. */
    boolean delegates() {
        return interpreter.delegatedOperators() > 0;
    }

    /** Returns the bytes that the delegate takes. */
    long delegatedBytes() {
        return delegatedBytes;
    }

    /** Returns the measured times of steps. */
    StepCosts costs() {
        return costs;
    }

    /** Returns the model's copy as it was opened. */
    OpenModel model() {
        return model;
    }

    /** Returns the tensors that kernels derived from constants. */
    List<DerivedConstant> derived() {
        return derived;
    }

    private List<ByteBuffer> zeros() {
        return interpreter.inputs().stream()
                .map(input -> ByteBuffer.allocate((int) input.bytes()))
                .toList();
    }

    /** Runs on the model's thread, for which the caller waits. */
    List<OutputTensor> run(List<ByteBuffer> values) {
        return inThread(() -> interpreter.run(values));
    }

    private <T> T inThread(Callable<T> work) {
        Future<T> result = thread.submit(work);
        try {
            return Uninterruptibles.getUninterruptibly(result);
        } catch (ExecutionException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
        }
    }

    /** Releases the arena until the next prediction. */
    void release() {
        interpreter.stream().release();
    }

    StreamedModel copy() {
        return copy;
    }

    StreamedInterpreter interpreter() {
        return interpreter;
    }

    StreamedGraph graph() {
        return graph;
    }

    /** Returns the plan in use. */
    StreamingPlan plan() {
        return plan;
    }

    @Override
    public void close() {
        interpreter.close();
        model.close();
    }
}
