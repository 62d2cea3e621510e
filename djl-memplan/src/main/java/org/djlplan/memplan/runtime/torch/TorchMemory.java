package org.djlplan.memplan.runtime.torch;

import com.google.common.base.Suppliers;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.cache.RemovalNotification;
import com.google.common.collect.ImmutableList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.plan.portfolio.PlannedMemory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.store.ModelPlans;
import org.djlplan.memplan.store.Store;
import org.djlplan.memplan.store.StoredPlan;

/** The planned memory of one PyTorch model. Thread-safe. */
public final class TorchMemory implements AutoCloseable {

    /** A model that sees more kinds of inputs than this forgets those it has not seen longest. */
    private static final int MOST_SEQUENCES = 64;

    private final TorchOptions options;
    private final ArenaPool pool;
    private final Supplier<ModelPlans> plans;
    private final Tally tally = new Tally();
    private final Cache<Kind, AllocationSequence> sequences =
            CacheBuilder.newBuilder()
                    .maximumSize(MOST_SEQUENCES)
                    .removalListener(TorchMemory::dropped)
                    .build();
    private volatile Optional<Store<StoredPlan>> store = Optional.empty();
    private volatile boolean closed;

    /** What makes predictions allocate in different ways. */
    private record Kind(ImmutableList<ArrayType> inputs, int threads) {}

    /**
     * @param plans where plans are kept; asked at the first prediction, when the model is loaded
     */
    public TorchMemory(TorchOptions options, Supplier<ModelPlans> plans) {
        this.options = options;
        this.plans = Suppliers.memoize(plans::get);
        pool = options.sharedArena() ? ArenaPool.shared() : new ArenaPool();
    }

    private static void dropped(RemovalNotification<Kind, AllocationSequence> notification) {
        notification.getValue().close();
    }

    /** Begins a prediction on this thread with inputs of these types. */
    public TorchPrediction begin(List<ArrayType> inputs) {
        if (closed || VirtualThreads.isCurrent()) {
            countUnplanned();
            return TorchPrediction.unplanned();
        }
        return sequence(inputs).begin();
    }

    /** Counts a prediction that nothing was planned for. */
    public void countUnplanned() {
        tally.predictions.increment();
        tally.unplannedPredictions.increment();
    }

    /** Returns when the arrays of an imperative block are closed, if it is known. */
    public Optional<LivenessTrace> liveness(List<ArrayType> inputs) {
        return closed ? Optional.empty() : sequence(inputs).liveness();
    }

    /** Keeps when the arrays of an imperative block are closed. */
    public void keepLiveness(List<ArrayType> inputs, LivenessTrace trace) {
        if (!closed) {
            sequence(inputs).keepLiveness(trace);
        }
    }

    private AllocationSequence sequence(List<ArrayType> inputs) {
        Kind kind = new Kind(ImmutableList.copyOf(inputs), TorchAllocator.threads());
        try {
            AllocationSequence sequence = sequences.get(kind, () -> newSequence(kind));
            if (closed) {
                sequences.invalidateAll();
            }
            return sequence;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private AllocationSequence newSequence(Kind kind) {
        ModelPlans kept = plans.get();
        store = Optional.of(kept.store());
        return new AllocationSequence(
                options,
                AllocationWatch.ofEngine(),
                pool,
                kept.store(),
                kept.key(kind.inputs(), kind.threads()),
                tally);
    }

    /** Returns what was planned and what happened until now; figures of the largest plan. */
    public PlanReport report() {
        Optional<PlannedMemory> largest =
                sequences.asMap().values().stream()
                        .flatMap(sequence -> sequence.figures().stream())
                        .max(Comparator.comparingLong(figures -> figures.plan().totalBytes()));
        return new PlanReport(
                "PyTorch",
                Optional.empty(),
                largest.map(PlannedMemory::strategy).orElse(""),
                largest.map(figures -> figures.plan().problem().records().size()).orElse(0),
                0,
                largest.map(PlannedMemory::naiveBytes).orElse(0L),
                largest.map(PlannedMemory::lowerBoundBytes).orElse(0L),
                largest.map(figures -> figures.plan().totalBytes()).orElse(0L),
                largest.map(PlannedMemory::provedMinimal).orElse(false),
                0,
                List.of(),
                tally.predictions.sum(),
                tally.unplannedPredictions.sum(),
                tally.unplannedAllocations.sum(),
                tally.recordings.sum(),
                Optional.empty(),
                Optional.empty());
    }

    @Override
    public void close() {
        closed = true;
        sequences.invalidateAll();
        store.ifPresent(Store::flush);
    }
}
