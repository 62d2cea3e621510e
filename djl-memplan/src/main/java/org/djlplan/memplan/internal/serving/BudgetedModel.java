package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.report.Megabytes;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@code .tflite} model with a budget. If the budget has room for all memory of the stock engine,
 * and for the delegate's packed weights, the model is served as without a budget; otherwise it is
 * streamed. When the budget changes, the model may switch between these two modes, between two
 * predictions. A model that keeps state is never streamed.
 */
public final class BudgetedModel implements TfLiteModel {

    private static final Logger logger = LoggerFactory.getLogger(BudgetedModel.class);

    private final Path original;
    private final PlanOptions options;
    private final StreamedCopies copies;
    private final Delegations delegations;
    private final Optional<BudgetedKernels> kernels;
    private final BiFunction<Budget, Long, BudgetResolver> resolvers;
    private final MemoryNeeds needs;

    /** Changes with the monitor held. */
    private volatile BudgetResolver resolver;

    private volatile long budgetBytes;

    /**
     * The budget for which the model in service was opened. Changes with the monitor held, except
     * in {@link #open}.
     */
    private long openedBytes;

    private volatile TfLiteModel serving;
    private volatile boolean closed;

    /** The delegation of a model with a budget. */
    public interface Delegations {

        /**
         * Returns the delegation of a model that is served whole; empty to run everything in CPU
         * kernels.
         *
         * @param budgetBytes the memory limit of the delegate
         */
        Optional<ServedDelegation> whole(long budgetBytes);

        /** Returns the selection of delegated operators for a streamed model; empty for none. */
        Optional<BudgetedKernels> streamed();
    }

    private BudgetedModel(
            Path original,
            PlanOptions options,
            StreamedCopies copies,
            Delegations delegations,
            BiFunction<Budget, Long, BudgetResolver> resolvers)
            throws IOException, UnplannableException {
        this.original = original;
        this.options = options;
        this.delegations = delegations;
        this.copies = copies;
        kernels = delegations.streamed();
        this.resolvers = resolvers;
        needs = new MemoryNeeds(original, options, copies);
        resolver = resolver(options.budget().budget());
    }

    /**
     * Opens a model. The engine must be loaded.
     *
     * @param cacheFolder for files that cannot be stored beside the model
     * @param resolvers creates the resolver of a budget, given the stock engine's memory, of which
     *     the budget may be a share
     * @throws BudgetTooSmallException if it exceeds its budget, and must not
     * @throws IOException if the model cannot be read, or a copy of it cannot be written
     * @throws UnplannableException if the engine cannot run it this way
     */
    public static BudgetedModel open(
            Path original,
            PlanOptions options,
            Path cacheFolder,
            Delegations delegations,
            BiFunction<Budget, Long, BudgetResolver> resolvers)
            throws IOException, UnplannableException, BudgetTooSmallException {
        StreamedCopies copies =
                new StreamedCopies(original, options.threads(), options.budget(), cacheFolder);
        try {
            BudgetedModel model =
                    new BudgetedModel(original, options, copies, delegations, resolvers);
            model.budgetBytes = model.resolver.bytes(0);
            model.openedBytes = model.budgetBytes;
            model.serving = model.opened(model.budgetBytes);
            return model;
        } catch (IOException
                | UnplannableException
                | BudgetTooSmallException
                | RuntimeException
                | Error e) {
            copies.close();
            throw e;
        }
    }

    private BudgetResolver resolver(Budget budget) throws IOException, UnplannableException {
        boolean isShare = budget instanceof Budget.ShareOfStock;
        return resolvers.apply(budget, isShare ? needs.stockBytes() : needs.fileBytes());
    }

    /**
     * Returns whether the model can be served whole. With a delegate it also needs room for packed
     * weights, because otherwise the delegate would run less of it than of a streamed model. This
     * does not apply to a model that keeps state, which is never streamed.
     */
    private boolean hasRoomForAll(long bytes) throws IOException, UnplannableException {
        return needs.hasRoomForAll(
                bytes, kernels.isPresent() && !needs.keepsState() ? needs.fileBytes() : 0);
    }

    private TfLiteModel opened(long bytes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        if (hasRoomForAll(bytes)) {
            return openedWhole(bytes);
        }
        if (needs.keepsState()) {
            throw tooSmallForState(bytes);
        }
        return StreamingModel.open(original, options, copies, kernels, bytes);
    }

    /** Opens the model's file, which must not have been replaced, neither before nor meanwhile. */
    private ServedModel openedWhole(long bytes) throws IOException, UnplannableException {
        copies.requireOriginal();
        ServedModel whole =
                ServedModel.open(original, options, MemoryPlanner::plan, delegations.whole(bytes));
        try {
            copies.requireOriginal();
            return whole;
        } catch (IOException | RuntimeException | Error e) {
            whole.close();
            throw e;
        }
    }

    /**
     * A model that keeps state is not streamed, because the state is in the interpreter. A streamed
     * model's interpreter also runs test inputs, and is replaced by others.
     */
    private BudgetTooSmallException tooSmallForState(long bytes) {
        return new BudgetTooSmallException(
                "%s: a budget of %s is too small: the model keeps state, so its weights are not loaded piece by piece; at least %s"
                        .formatted(
                                original.getFileName(),
                                Megabytes.of(bytes),
                                Megabytes.atLeast(needs.leastBytes())),
                needs.leastBytes());
    }

    @Override
    public boolean keepsState() {
        return serving.keepsState();
    }

    @Override
    public boolean isSettled() {
        return serving.isSettled();
    }

    @Override
    public boolean hasBudget() {
        return true;
    }

    @Override
    public synchronized void setBudget(Budget budget) throws BudgetTooSmallException {
        requireOpen();
        try {
            BudgetResolver wanted = resolver(budget);
            change(wanted.bytes(this::takenBytes));
            resolver = wanted;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (UnplannableException e) {
            throw new IllegalStateException(original + ": " + e.getMessage(), e);
        }
    }

    private void change(long wantedBytes)
            throws BudgetTooSmallException, IOException, UnplannableException {
        if (wantedBytes == budgetBytes) {
            return;
        }
        // Checks the serving model instead of the previous budget, because the change to that
        // budget may have failed.
        boolean streams = serving instanceof StreamingModel;
        if (streams == hasRoomForAll(wantedBytes) || delegatesTooMuch(wantedBytes)) {
            TfLiteModel before = serving;
            serving = opened(wantedBytes);
            openedBytes = wantedBytes;
            before.close();
        } else if (serving instanceof StreamingModel streaming) {
            streaming.setBudget(wantedBytes);
        }
        budgetBytes = wantedBytes;
    }

    /** Returns whether the delegate might exceed a smaller budget. */
    private boolean delegatesTooMuch(long wantedBytes) throws IOException, UnplannableException {
        return wantedBytes < openedBytes
                && serving instanceof ServedModel whole
                && whole.choosesDelegation()
                && !needs.hasRoomForAll(
                        wantedBytes, Delegates.MOST_PACKED_PER_BYTE * needs.fileBytes());
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(original.getFileName() + " is closed");
        }
    }

    private long takenBytes() {
        return serving instanceof StreamingModel streaming
                ? streaming.takenBytes()
                : needs.knownStockBytes();
    }

    /** Adapts to the container's limit, because a budget that follows it may have changed. */
    private void follow() {
        if (resolver.bytes(this::takenBytes) == budgetBytes) {
            return;
        }
        synchronized (this) {
            long wanted = resolver.bytes(this::takenBytes);
            requireOpen();
            try {
                change(wanted);
            } catch (BudgetTooSmallException
                    | IOException
                    | UnplannableException
                    | RuntimeException e) {
                // The model can still predict as before.
                logger.warn(
                        "{} keeps its previous budget: {}",
                        original.getFileName(),
                        UnplannableException.reason(e));
                // Warns once until the budget changes again.
                budgetBytes = wanted;
            }
        }
    }

    @Override
    public ImmutableList<TensorInfo> inputs() {
        return serving.inputs();
    }

    @Override
    public ImmutableList<TensorInfo> outputs() {
        return serving.outputs();
    }

    @Override
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
        requireOpen();
        follow();
        while (true) {
            TfLiteModel now = serving;
            try {
                return now.run(values, shapes);
            } catch (IllegalStateException e) {
                // Perhaps it was closed because another model replaced it.
                if (now == serving || closed) {
                    throw e;
                }
            }
        }
    }

    @Override
    public PlanReport report() {
        PlanReport report = serving.report();
        return report.budget().isPresent() || budgetBytes == Long.MAX_VALUE
                ? report
                : Reports.within(
                        report,
                        Reports.whole(
                                budgetBytes,
                                needs.leastBytes(),
                                report.plan().arenaBytes(),
                                needs.fileBytes()));
    }

    @Override
    public Optional<ResidentWeights> residentWeights() {
        return serving.residentWeights();
    }

    @Override
    public synchronized void close() {
        closed = true;
        serving.close();
        copies.close();
    }
}
