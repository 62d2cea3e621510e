package org.djlplan.memplan.serving;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import org.djlplan.memplan.budget.BudgetTooSmallException;
import org.djlplan.memplan.budget.ResidentWeights;
import org.djlplan.memplan.budget.StreamingPlan;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.Later;
import org.djlplan.memplan.runtime.ProcessMemory;
import org.djlplan.memplan.runtime.tflite.InputShapes;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.runtime.tflite.TensorInfo;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.serving.BudgetedKernels.Chosen;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A streamed {@code .tflite} model: its weights are loaded from a copy of the model while it runs,
 * into the arena of its activations. One prediction runs at a time; others wait in order of
 * arrival. There is one interpreter, which is replaced for inputs of other shapes.
 */
final class StreamingModel implements TfLiteModel {

    private static final Logger logger = LoggerFactory.getLogger(StreamingModel.class);

    private static final String WORKER = "djl-plan-budget-kernels";

    /**
     * After a load, so long it takes until what ran for the first time is compiled; after a change
     * of the budget, another one may follow.
     */
    private static final Duration SETTLED = Duration.ofSeconds(2);

    /** After so many predictions that took so many times as long as CPU kernels, these serve. */
    private static final int MOST_SLOW = 5;

    private static final long MUCH_SLOWER = 3;

    /** After so long without a prediction the arena is given back. */
    private static final Duration IDLE = Duration.ofSeconds(5);

    private final String name;
    private final int threads;
    private final BudgetedInterpreters interpreters;
    private final Optional<BudgetedKernels> kernels;

    /** One is taken by a prediction, and while the budget changes. Guards the fields below. */
    private final Turns turns = new Turns();

    private BudgetedInterpreter serving;

    /** Of the inputs that the interpreter is for. */
    private List<List<Integer>> shapes = List.of();

    private long budgetBytes;

    /** What the delegate's part was selected for. */
    private long delegatedForBytes;

    /** All is in CPU kernels because nothing was selected yet for the budget and the inputs. */
    private boolean unselected = true;

    private long predictions;
    private int slowPredictions;
    private OptionalLong lastStallNanos = OptionalLong.empty();
    private boolean releasePending;
    private long lastUseNanos;
    private boolean selectionPending;
    private long lastChangeNanos;

    /** As in the file. */
    private ImmutableList<TensorInfo> inputs = ImmutableList.of();

    private ImmutableList<List<Integer>> signatures = ImmutableList.of();

    private ImmutableList<TensorInfo> outputs = ImmutableList.of();

    private boolean closed;

    private StreamingModel(
            Path original,
            PlanOptions options,
            Path cacheFolder,
            Optional<BudgetedKernels> kernels) {
        name = original.getFileName().toString();
        threads = options.threads();
        interpreters = new BudgetedInterpreters(original, options, cacheFolder);
        this.kernels = kernels;
    }

    /**
     * Opens a model; makes a copy of it to load weights from where there is none, and measures it
     * in one inference on zeros. The engine must be loaded.
     *
     * @param cacheFolder for what cannot be kept beside the model
     * @param kernels which of its operators a delegate runs; empty for none
     * @throws BudgetTooSmallException if it cannot run inside its budget, and has to
     * @throws IOException if the model cannot be read, or the copy cannot be written
     * @throws UnplannableException if the engine cannot run it so
     */
    static StreamingModel open(
            Path original,
            PlanOptions options,
            Path cacheFolder,
            Optional<BudgetedKernels> kernels,
            long budgetBytes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        StreamingModel model = new StreamingModel(original, options, cacheFolder, kernels);
        try {
            model.begin(budgetBytes);
            return model;
        } catch (IOException
                | UnplannableException
                | BudgetTooSmallException
                | RuntimeException
                | Error e) {
            if (model.serving != null) {
                model.serving.close();
            }
            model.interpreters.close();
            throw e;
        }
    }

    private void begin(long wantedBytes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        BudgetedInterpreter cpu = interpreters.planned(wantedBytes, List.of());
        serving = cpu;
        budgetBytes = wantedBytes;
        inputs = cpu.interpreter().inputs();
        signatures = cpu.model().inputSignatures();
        outputs = cpu.interpreter().outputs();
        shapes = shapesInFile();
        Optional<Chosen> kept = Optional.empty();
        if (kernels.isPresent()) {
            kept = kernels.get().kept(cpu, threads, interpreters.io(), arenaBytes());
        }
        if (kept.isPresent()) {
            delegate(kept.get());
            useAllBytes();
        } else {
            cpu.calibrate(arenaBytes());
        }
        trimLater();
        if (kernels.isPresent() && kernels.get().whileLoading() && delegatesTooLittle()) {
            select(true);
            return;
        }
        turns.lock();
        try {
            selectWhenSettled();
        } finally {
            turns.unlock();
        }
    }

    private List<List<Integer>> shapesInFile() {
        return inputs.stream().map(TensorInfo::shape).toList();
    }

    /** Compilers have been busy, and the C library keeps what they freed. */
    private static void trimLater() {
        boolean unused = Later.run(SETTLED, ProcessMemory::trim);
    }

    /** Returns what the budget leaves for the arena and a delegate; more if it cannot be held. */
    private long arenaBytes() {
        return Math.max(interpreters.arenaBytes(budgetBytes), serving.leastArenaBytes());
    }

    /**
     * Puts an interpreter for a budget, in CPU kernels, in the place of the one that serves.
     *
     * @param wantedShapes of the inputs
     */
    private void serve(long wantedBytes, List<List<Integer>> wantedShapes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        // A copy may have to be made, in an arena of the same size.
        serving.release();
        BudgetedInterpreter next =
                interpreters.planned(
                        wantedBytes,
                        wantedShapes.equals(shapesInFile()) ? List.of() : wantedShapes);
        replace(next, wantedBytes);
        shapes = wantedShapes;
        budgetBytes = wantedBytes;
        unselected = true;
    }

    /** Puts an interpreter, which is closed on errors, in the place of the one that serves. */
    private void replace(BudgetedInterpreter next, long wantedBytes)
            throws UnplannableException, BudgetTooSmallException {
        try {
            serving.release();
            makeRoom(next, serving.delegatedBytes());
            next.calibrate(Math.max(interpreters.arenaBytes(wantedBytes), next.leastArenaBytes()));
        } catch (BudgetTooSmallException | UnplannableException | RuntimeException | Error e) {
            next.close();
            throw e;
        }
        serving.close();
        serving = next;
        trimLater();
    }

    /** What a delegate takes of the one that serves is still there while the next is measured. */
    private static void makeRoom(BudgetedInterpreter next, long takenBytes)
            throws BudgetTooSmallException, UnplannableException {
        if (takenBytes > 0) {
            long leftBytes = next.plan().arenaBytes() - takenBytes;
            next.plan(Math.max(next.leastArenaBytes(), leftBytes));
        }
    }

    /** Returns whether a delegate may do more than it does. */
    private boolean delegatesTooLittle() {
        return kernels.isPresent()
                && shapes.equals(shapesInFile())
                && (unselected || kernels.get().grown(delegatedForBytes, arenaBytes()));
    }

    /** Has it selected what a delegate runs, if the budget stays as it is for a while. */
    private void selectWhenSettled() {
        lastChangeNanos = System.nanoTime();
        if (!selectionPending && delegatesTooLittle()) {
            selectionPending = Later.run(SETTLED, this::selectIfSettled);
        }
    }

    private void selectIfSettled() {
        turns.lock();
        try {
            selectionPending = false;
            if (closed || !delegatesTooLittle()) {
                return;
            }
            if (System.nanoTime() - lastChangeNanos >= SETTLED.toNanos()) {
                turns.begin(WORKER, () -> select(false));
            } else {
                selectionPending = Later.run(SETTLED, this::selectIfSettled);
            }
        } finally {
            turns.unlock();
        }
    }

    /**
     * Lets a delegate run what pays in the budget, in as many turns as that takes.
     *
     * @param alone whether nobody predicts meanwhile
     */
    private void select(boolean alone) {
        change(
                () -> {
                    BudgetedInterpreter cpu = inCpuKernels();
                    long bytes = arenaBytes();
                    Optional<Chosen> better =
                            kernels.orElseThrow()
                                    .best(cpu, threads, interpreters.io(), bytes, turns, alone);
                    if (better.isPresent()) {
                        install(better.get());
                    } else {
                        settle();
                    }
                });
    }

    /** A change of the served model that takes one or more turns. */
    @FunctionalInterface
    private interface Change {

        void make() throws IOException, UnplannableException, BudgetTooSmallException;
    }

    private void change(Change change) {
        try {
            change.make();
        } catch (CancellationException e) {
            logger.debug("{}: {}", name, e.getMessage());
        } catch (IOException
                | UnplannableException
                | BudgetTooSmallException
                | RuntimeException e) {
            logger.warn("{} keeps its kernels: {}", name, UnplannableException.reason(e));
            settle();
        } finally {
            useAllBytes();
        }
    }

    private void install(Chosen chosen) {
        try {
            turns.lockForWork();
        } catch (CancellationException e) {
            chosen.interpreter().close();
            throw e;
        }
        try {
            delegate(chosen);
        } finally {
            turns.unlock();
        }
    }

    private void delegate(Chosen chosen) {
        serving.close();
        serving = chosen.interpreter();
        delegatedForBytes = chosen.forBytes();
        unselected = false;
        slowPredictions = 0;
        trimLater();
    }

    /** Nothing else is to be selected until the budget has grown. */
    private void settle() {
        turns.lock();
        try {
            delegatedForBytes = kernels.orElseThrow().atMost(arenaBytes());
            unselected = false;
        } finally {
            turns.unlock();
        }
    }

    /** Plans for what nothing else needs any more. */
    private void useAllBytes() {
        try {
            StreamingPlan plan = serving.planned(ownBytes());
            turns.lock();
            try {
                serving.take(plan);
            } finally {
                turns.unlock();
            }
        } catch (BudgetTooSmallException | UnplannableException e) {
            logger.debug("{}: the plan stays", name, e);
        }
    }

    private long ownBytes() {
        return serving.delegates() ? kernels.orElseThrow().atMost(arenaBytes()) : arenaBytes();
    }

    /** Returns the interpreter that serves, after all operators have gone to CPU kernels. */
    private BudgetedInterpreter inCpuKernels()
            throws IOException, UnplannableException, BudgetTooSmallException {
        if (!serving.delegates()) {
            return serving;
        }
        StreamingPlan least = serving.planned(serving.leastArenaBytes());
        turns.lockForWork();
        try {
            // A copy may have to be made meanwhile.
            serving.take(least);
        } finally {
            turns.unlock();
        }
        BudgetedInterpreter next = interpreters.planned(budgetBytes, List.of());
        try {
            turns.lockForWork();
        } catch (CancellationException e) {
            next.close();
            throw e;
        }
        try {
            replace(next, budgetBytes);
            return next;
        } finally {
            turns.unlock();
        }
    }

    /**
     * Gives the model another budget, from the next prediction on. On any error all stays as it
     * was.
     *
     * @throws BudgetTooSmallException if it cannot run in it, and has to
     * @throws IOException if a copy cannot be made
     * @throws UnplannableException if the engine cannot run it so
     */
    void setBudget(long wantedBytes)
            throws BudgetTooSmallException, IOException, UnplannableException {
        turns.lock();
        try {
            requireOpen();
            if (wantedBytes == budgetBytes) {
                return;
            }
            turns.endWork();
            requireOpen();
            try {
                serving.plan(interpreters.arenaBytes(wantedBytes));
                budgetBytes = wantedBytes;
            } catch (BudgetTooSmallException e) {
                serve(wantedBytes, shapesInFile());
            }
            releaseWhenIdle();
        } finally {
            selectWhenSettled();
            turns.unlock();
        }
    }

    /** Returns the size of its arena, with what a delegate takes. */
    long takenBytes() {
        turns.lock();
        try {
            return serving.plan().arenaBytes() + serving.delegatedBytes();
        } finally {
            turns.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    @Override
    public ImmutableList<TensorInfo> inputs() {
        return inputs;
    }

    @Override
    public ImmutableList<TensorInfo> outputs() {
        return outputs;
    }

    @Override
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> givenShapes) {
        List<List<Integer>> effective =
                InputShapes.effective(inputs, shapesInFile(), signatures, values, givenShapes);
        turns.lock();
        try {
            requireOpen();
            if (!effective.equals(shapes)) {
                serveShapes(effective);
            }
            predictions++;
            long start = System.nanoTime();
            List<OutputTensor> results = serving.run(values);
            watch(System.nanoTime() - start);
            lastStallNanos =
                    OptionalLong.of(serving.interpreter().stream().counters().stalledNanos());
            releaseWhenIdle();
            return results;
        } finally {
            turns.unlock();
        }
    }

    /**
     * On several threads delegate kernels wait for each other actively, which beside other work may
     * take many times as long as CPU kernels do.
     */
    private void watch(long nanos) {
        slowPredictions = nanos / MUCH_SLOWER > serving.cpuNanos() ? slowPredictions + 1 : 0;
        if (slowPredictions >= MOST_SLOW) {
            slowPredictions = 0;
            turns.begin(WORKER, this::fallBack);
        }
    }

    private void fallBack() {
        change(
                () -> {
                    BudgetedInterpreter unused = inCpuKernels();
                    logger.warn(
                            "{} is slow with operators delegated: from now on in CPU kernels",
                            name);
                    settle();
                });
    }

    private void serveShapes(List<List<Integer>> wanted) {
        turns.endWork();
        requireOpen();
        if (wanted.equals(shapes)) {
            return;
        }
        try {
            serve(budgetBytes, wanted);
        } catch (BudgetTooSmallException | UnplannableException e) {
            throw new IllegalStateException(
                    "for inputs of shapes " + wanted + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            selectWhenSettled();
        }
    }

    private void releaseWhenIdle() {
        lastUseNanos = System.nanoTime();
        if (!releasePending) {
            releasePending = Later.run(IDLE, this::releaseIfIdle);
        }
    }

    private void releaseIfIdle() {
        turns.lock();
        try {
            releasePending = false;
            if (closed) {
                return;
            }
            if (System.nanoTime() - lastUseNanos >= IDLE.toNanos()) {
                serving.release();
            } else {
                releasePending = Later.run(IDLE, this::releaseIfIdle);
            }
        } finally {
            turns.unlock();
        }
    }

    @Override
    public PlanReport report() {
        turns.lock();
        try {
            return StreamingReport.of(
                    serving, shapes, budgetBytes, threads, predictions, lastStallNanos);
        } finally {
            turns.unlock();
        }
    }

    @Override
    public Optional<ResidentWeights> residentWeights() {
        turns.lock();
        try {
            return Optional.of(ResidentWeights.of(serving.plan(), serving.graph()::nameOf));
        } finally {
            turns.unlock();
        }
    }

    @Override
    public void close() {
        turns.lock();
        try {
            if (!closed) {
                closed = true;
                turns.endWork();
                serving.close();
                interpreters.close();
            }
        } finally {
            turns.unlock();
        }
    }
}
