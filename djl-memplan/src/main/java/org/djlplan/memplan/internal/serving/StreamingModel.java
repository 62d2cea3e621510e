package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.gate.Lane;
import org.djlplan.memplan.internal.gate.Places;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A streamed {@code .tflite} model: its weights are loaded from a copy of the model while it runs,
 * into the arena of its activations. One prediction runs at a time; others wait in order of
 * arrival. There is one interpreter, which is replaced for inputs of other shapes.
 */
final class StreamingModel implements TfLiteModel {

    private final String name;
    private final int threads;
    private final InterpreterInService service;
    private final BackgroundSelection selection;

    /** Each prediction takes a turn, and so does a change of the budget. */
    private final Turns turns;

    private final Lane lane = Gate.shared().lane(1, PoolReport.Cause.ARENAS);

    /** The inputs in the file. */
    private final ImmutableList<TensorInfo> inputs;

    private final ImmutableList<List<Integer>> signatures;
    private final ImmutableList<TensorInfo> outputs;

    /** Guarded by the turns. */
    private long predictions;

    private OptionalLong lastStallNanos = OptionalLong.empty();

    private StreamingModel(
            Path original,
            PlanOptions options,
            Optional<BudgetedKernels> kernels,
            InterpreterInService service) {
        name = original.getFileName().toString();
        threads = options.threads();
        this.service = service;
        turns = service.turns();
        selection = new BackgroundSelection(name, threads, kernels, service);
        inputs = service.now().interpreter().inputs();
        signatures = service.now().model().inputSignatures();
        outputs = service.now().interpreter().outputs();
    }

    /**
     * Opens a model, and measures it in one inference on zeros. If there is no copy of it to load
     * weights from, makes one. The engine must be loaded.
     *
     * @param copies of the model
     * @param kernels selects the operators that a delegate runs; empty for none
     * @throws BudgetTooSmallException if it exceeds its budget, and must not
     * @throws IOException if the model cannot be read, or the copy cannot be written
     * @throws UnplannableException if the engine cannot run it so
     */
    static StreamingModel open(
            Path original,
            PlanOptions options,
            StreamedCopies copies,
            Optional<BudgetedKernels> kernels,
            long budgetBytes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        InterpreterInService service =
                new InterpreterInService(new BudgetedInterpreters(original, options, copies));
        try {
            service.open(budgetBytes);
            StreamingModel model = new StreamingModel(original, options, kernels, service);
            model.selection.begin();
            return model;
        } catch (IOException
                | UnplannableException
                | BudgetTooSmallException
                | RuntimeException
                | Error e) {
            service.close();
            throw e;
        }
    }

    /**
     * Replaces the model's budget, from the next prediction on. On any error nothing changes.
     *
     * @throws BudgetTooSmallException if the model exceeds it, and must not
     * @throws IOException if a copy cannot be made
     * @throws UnplannableException if the engine cannot run it so
     */
    void setBudget(long wantedBytes)
            throws BudgetTooSmallException, IOException, UnplannableException {
        turns.lock();
        try {
            requireOpen();
            if (wantedBytes == service.budgetBytes()) {
                return;
            }
            turns.endWork();
            requireOpen();
            try {
                service.plan(wantedBytes);
            } catch (BudgetTooSmallException e) {
                service.serve(wantedBytes, service.shapesInFile());
                selection.reset();
            }
            service.releaseWhenIdle();
        } finally {
            selection.selectWhenSettled();
            turns.unlock();
        }
    }

    /** Returns the size of the arena plus the delegate's memory. */
    long takenBytes() {
        turns.lock();
        try {
            return service.now().plan().arenaBytes() + service.now().delegatedBytes();
        } finally {
            turns.unlock();
        }
    }

    private void requireOpen() {
        if (service.isClosed()) {
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
                InputShapes.effective(
                        inputs, service.shapesInFile(), signatures, values, givenShapes);
        return lane.run(Places.NONE, Long.MAX_VALUE, () -> predict(effective, values));
    }

    /** Predicts on the model's own thread, so it needs no place at the gate. */
    private List<OutputTensor> predict(List<List<Integer>> effective, List<ByteBuffer> values) {
        turns.lock();
        try {
            requireOpen();
            if (!effective.equals(service.shapes())) {
                serveShapes(effective);
            }
            predictions++;
            long start = System.nanoTime();
            BudgetedInterpreter serving = service.now();
            List<OutputTensor> results = serving.run(values);
            selection.watch(System.nanoTime() - start);
            lastStallNanos =
                    OptionalLong.of(serving.interpreter().stream().counters().stalledNanos());
            service.releaseWhenIdle();
            return results;
        } finally {
            turns.unlock();
        }
    }

    private void serveShapes(List<List<Integer>> wanted) {
        turns.endWork();
        requireOpen();
        if (wanted.equals(service.shapes())) {
            return;
        }
        try {
            service.serve(service.budgetBytes(), wanted);
            selection.reset();
        } catch (BudgetTooSmallException | UnplannableException e) {
            throw new IllegalStateException(
                    "for inputs of shapes " + wanted + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            selection.selectWhenSettled();
        }
    }

    @Override
    public PlanReport report() {
        turns.lock();
        try {
            return StreamingReport.of(
                    service.now(),
                    service.shapes(),
                    service.budgetBytes(),
                    threads,
                    predictions,
                    lastStallNanos);
        } finally {
            turns.unlock();
        }
    }

    /** A model that keeps state is not streamed. */
    @Override
    public boolean keepsState() {
        return false;
    }

    @Override
    public Optional<ResidentWeights> residentWeights() {
        turns.lock();
        try {
            BudgetedInterpreter serving = service.now();
            return Optional.of(ResidentWeights.of(serving.plan(), serving.graph()::nameOf));
        } finally {
            turns.unlock();
        }
    }

    @Override
    public void close() {
        service.close();
    }
}
