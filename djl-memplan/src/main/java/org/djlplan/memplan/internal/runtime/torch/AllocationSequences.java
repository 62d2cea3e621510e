package org.djlplan.memplan.internal.runtime.torch;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.jspecify.annotations.Nullable;

/**
 * The allocation sequences of one model, by kind of inputs. {@link Recurrence} selects the kinds
 * that get a sequence. Thread-safe; predictions of known kinds do not wait while a sequence is
 * made.
 */
final class AllocationSequences implements AutoCloseable {

    /** If a model sees more kinds of inputs, it forgets the least recently used ones. */
    static final int MOST = 64;

    private final String model;
    private final Supplier<AllocationPlans> plans;
    private final TorchArenas arenas;
    private final AllocationSequence.Tally tally;
    private final Recurrence<PredictionKind> recurrence = new Recurrence<>();

    /** How many sequences were made so far. */
    private final AtomicInteger made = new AtomicInteger();

    /**
     * The sequences in order of their last use. Guarded by itself, because dropped sequences are
     * closed without the lock.
     */
    private final Map<PredictionKind, AllocationSequence> byKind =
            new LinkedHashMap<>(16, 0.75f, true);

    /** Data of kinds that have no sequence. Guarded by making. */
    private final Map<PredictionKind, AllocationPlans.OfInputs> others = RecentMap.ofMost(MOST);

    /** Held while a sequence is made. A stored plan may be read meanwhile. */
    private final Object making = new Object();

    private volatile boolean closed;

    /**
     * @param model its name, for messages
     * @param plans asked when a kind is first seen
     */
    AllocationSequences(
            String model,
            Supplier<AllocationPlans> plans,
            TorchArenas arenas,
            AllocationSequence.Tally tally) {
        this.model = model;
        this.plans = plans;
        this.arenas = arenas;
        this.tally = tally;
    }

    /**
     * Returns whether the next prediction's kind need not be determined, because for long no kind
     * had a plan or was worth one.
     */
    boolean isPassedOver() {
        return recurrence.isPassedOver();
    }

    /**
     * Returns the sequence of a prediction; null if there is none, and the kind is not worth one.
     */
    @Nullable AllocationSequence ofPrediction(PredictionKind kind) {
        AllocationSequence known = known(kind);
        if (known != null) {
            recurrence.found();
            return known;
        }
        return recurrence.isWorthwhile(kind) ? of(kind) : null;
    }

    /** Notes that a prediction without a sequence still has a plan. */
    void foundOther() {
        recurrence.found();
    }

    /** Returns the sequence of a kind, and makes it if there is none. */
    AllocationSequence of(PredictionKind kind) {
        synchronized (making) {
            AllocationSequence sequence = known(kind);
            if (sequence == null) {
                sequence = make(kind);
                keep(kind, sequence);
            }
            if (closed) {
                closeAll();
            }
            return sequence;
        }
    }

    private @Nullable AllocationSequence known(PredictionKind kind) {
        synchronized (byKind) {
            return byKind.get(kind);
        }
    }

    /** Returns when an imperative block's arrays are closed, if it is known. */
    Optional<LivenessTrace> liveness(PredictionKind kind) {
        synchronized (making) {
            AllocationSequence sequence = known(kind);
            return sequence == null ? other(kind).liveness() : sequence.liveness();
        }
    }

    /** Sets when an imperative block's arrays are closed. Makes no sequence. */
    void keepLiveness(PredictionKind kind, LivenessTrace trace) {
        AllocationSequence sequence;
        synchronized (making) {
            sequence = known(kind);
            if (sequence == null) {
                AllocationPlans.OfInputs other = other(kind);
                if (other.learn(trace)) {
                    other.save();
                }
            }
        }
        if (sequence != null) {
            sequence.keepLiveness(trace);
        }
    }

    /** Returns the data of a kind that has no sequence. The caller holds making. */
    private AllocationPlans.OfInputs other(PredictionKind kind) {
        return others.computeIfAbsent(kind, this::read);
    }

    private AllocationPlans.OfInputs read(PredictionKind kind) {
        return plans.get().of(kind.inputs(), kind.threads());
    }

    private AllocationSequence make(PredictionKind kind) {
        AllocationPlans.OfInputs other = others.remove(kind);
        return new AllocationSequence(
                model + ", inputs " + kind.inputs(),
                other == null ? read(kind) : other,
                arenas,
                background(),
                tally);
    }

    /**
     * The first few kinds of inputs are planned when they recur soon, and the very first one at
     * once, because most models have no other. Later kinds have recurred often.
     */
    private AllocationSequence.Background background() {
        int others = made.getAndIncrement();
        return others < Recurrence.FIRST ? new PlanningIfRecurring(others == 0) : Analysis::offer;
    }

    private void keep(PredictionKind kind, AllocationSequence sequence) {
        Optional<AllocationSequence> dropped = Optional.empty();
        synchronized (byKind) {
            byKind.put(kind, sequence);
            if (byKind.size() > MOST) {
                Iterator<AllocationSequence> eldest = byKind.values().iterator();
                dropped = Optional.of(eldest.next());
                eldest.remove();
            }
        }
        dropped.ifPresent(AllocationSequence::close);
    }

    private List<AllocationSequence> all() {
        synchronized (byKind) {
            return List.copyOf(byKind.values());
        }
    }

    /** Offers the planning of all recordings, including kinds that did not recur. */
    void planAnyway() {
        for (AllocationSequence each : all()) {
            each.planAnyway();
        }
    }

    /** Returns the plan in use with the largest arena. */
    Optional<EvaluatedPlan> largest() {
        Optional<EvaluatedPlan> largest = Optional.empty();
        for (AllocationSequence sequence : all()) {
            Optional<EvaluatedPlan> plan = sequence.figures();
            if (plan.isPresent()
                    && (largest.isEmpty()
                            || plan.get().arenaBytes() > largest.get().arenaBytes())) {
                largest = plan;
            }
        }
        return largest;
    }

    /** Closes all sequences, and every sequence made from now on. */
    @Override
    public void close() {
        closed = true;
        closeAll();
    }

    private void closeAll() {
        List<AllocationSequence> all;
        synchronized (byKind) {
            all = List.copyOf(byKind.values());
            byKind.clear();
        }
        for (AllocationSequence each : all) {
            each.close();
        }
    }
}
