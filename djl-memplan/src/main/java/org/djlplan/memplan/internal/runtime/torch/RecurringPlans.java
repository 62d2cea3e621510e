package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.PredictionTally;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.internal.usage.AllocationTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plans of one model, for those kinds of predictions that need a clearly larger arena online
 * than the bytes that they use at once. When such a kind recurs, a prediction is recorded, and
 * planned in the background. Later predictions of the kind follow the plan while no others run.
 * They are online again for ever after several of them allocated differently. Thread-safe.
 */
final class RecurringPlans implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(RecurringPlans.class);

    /** Limit of the kinds that are remembered. */
    private static final int MOST = 64;

    /** How many predictions of a kind must waste memory before one is recorded. */
    private static final int WASTEFUL = 2;

    /** How many predictions in a row must differ from a plan before it is dropped. */
    private static final int MOST_DIVERGED = 3;

    private final String model;
    private final Function<AllocationTrace, EvaluatedPlan> planner;
    private final TorchArenas arenas;
    private final PredictionTally tally;

    /** Least recently used first. Guarded by itself. */
    private final Map<PredictionKind, Kind> kinds = new LinkedHashMap<>(16, .75f, true);

    private boolean closed; // guarded by kinds

    /**
     * @param model its name, for messages
     * @param planner plans recorded allocations
     * @param tally counts the predictions
     */
    RecurringPlans(
            String model,
            Function<AllocationTrace, EvaluatedPlan> planner,
            TorchArenas arenas,
            PredictionTally tally) {
        this.model = model;
        this.planner = planner;
        this.arenas = arenas;
        this.tally = tally;
    }

    /** A plan in use. */
    private record Plan(EvaluatedPlan places, TorchArenas.Placing placing) {}

    /**
     * Begins a prediction on this thread: by a plan if there is one, otherwise online; empty as for
     * {@link TorchArenas#begin(boolean, TorchArenas.Ending)}.
     */
    Optional<TorchPrediction> begin(PredictionKind prediction, InputSizes sizes) {
        return of(prediction).begin(sizes);
    }

    private Kind of(PredictionKind prediction) {
        Kind kind;
        Optional<Kind> dropped = Optional.empty();
        synchronized (kinds) {
            kind = kinds.computeIfAbsent(prediction, unused -> new Kind());
            if (kinds.size() > MOST) {
                dropped = Optional.of(kinds.remove(kinds.keySet().iterator().next()));
            }
            if (closed) {
                kind.drop();
            }
        }
        dropped.ifPresent(Kind::drop);
        return kind;
    }

    /** Drops all plans; predictions that run keep theirs. */
    @Override
    public void close() {
        synchronized (kinds) {
            closed = true;
            kinds.values().forEach(Kind::drop);
        }
    }

    /** One kind of predictions. Its fields are guarded by itself. */
    private final class Kind {

        private Optional<Plan> plan = Optional.empty();
        private int wasteful;
        private int diverged;

        /** Whether a recording runs or is planned. */
        private boolean pending;

        /** Whether no plan is made any more. */
        private boolean dropped;

        Optional<TorchPrediction> begin(InputSizes sizes) {
            Optional<Plan> known = plan();
            Optional<TorchPrediction> placed =
                    known.flatMap(
                            now ->
                                    arenas.beginAlone(
                                            now.placing,
                                            (run, failed) -> endReplay(run, failed, now, sizes)));
            return placed.isPresent() ? placed : online(sizes, known.isPresent());
        }

        private synchronized Optional<Plan> plan() {
            return plan;
        }

        private TorchArenas.Outcome endReplay(
                TorchArenas.Run run, boolean failed, Plan now, InputSizes sizes) {
            TorchArenas.Outcome outcome = run.finish();
            tally.planned(now.places.strategy(), sizes, outcome.counters());
            if (!failed && divergesTooOften(outcome)) {
                logger.debug("{}: allocations differ from their plan", model);
                drop();
            }
            return outcome;
        }

        private synchronized boolean divergesTooOften(TorchArenas.Outcome outcome) {
            diverged = outcome.asPlanned() ? 0 : diverged + 1;
            return diverged >= MOST_DIVERGED;
        }

        private Optional<TorchPrediction> online(InputSizes sizes, boolean hadPlan) {
            boolean records = beginRecording();
            Optional<TorchPrediction> begun = Optional.empty();
            try {
                begun =
                        arenas.begin(
                                records,
                                (run, failed) -> endOnline(run, failed, records, hadPlan, sizes));
            } finally {
                if (records && begun.isEmpty()) {
                    setPending(false);
                }
            }
            return begun;
        }

        private synchronized boolean beginRecording() {
            boolean begins = plan.isEmpty() && !pending && !dropped && wasteful >= WASTEFUL;
            pending |= begins;
            return begins;
        }

        private synchronized void setPending(boolean now) {
            pending = now;
        }

        private TorchArenas.Outcome endOnline(
                TorchArenas.Run run,
                boolean failed,
                boolean records,
                boolean hadPlan,
                InputSizes sizes) {
            Optional<AllocationTrace> trace =
                    records && !failed ? run.recorded() : Optional.empty();
            TorchArenas.Outcome outcome = run.finish();
            tally.online(sizes, outcome.counters());
            if (!hadPlan && plan().isPresent()) {
                // It began before the plan, and later ones need less.
                tally.replan();
            }
            noteWaste(outcome.isWasteful());
            if (trace.isPresent()) {
                tally.recorded();
                planLater(trace.get(), outcome.reachedBytes());
            } else if (records) {
                if (!failed) {
                    // There was no memory for the recording.
                    drop();
                }
                setPending(false);
            }
            return outcome;
        }

        private synchronized void noteWaste(boolean isWasteful) {
            wasteful += isWasteful && wasteful < WASTEFUL ? 1 : 0;
        }

        private void planLater(AllocationTrace trace, long onlineBytes) {
            NativeLoader.Use use = NativeLoader.hold();
            Later.run(
                    Duration.ZERO,
                    () -> {
                        try (use) {
                            plan(trace, onlineBytes);
                        } catch (RuntimeException | VirtualMachineError e) {
                            logger.warn("{}: no plan: {}", model, e.toString());
                            drop();
                        } finally {
                            setPending(false);
                        }
                    });
        }

        private void plan(AllocationTrace trace, long onlineBytes) {
            EvaluatedPlan places = planner.apply(trace);
            if (!TorchArenas.Outcome.isMuchMore(onlineBytes, places.arenaBytes())) {
                drop();
                return;
            }
            install(new Plan(places, arenas.take(trace, places.plan())));
            logger.info(
                    "{}: {} bytes of an arena by {} instead of {} bytes online",
                    model,
                    places.arenaBytes(),
                    places.strategy(),
                    onlineBytes);
        }

        private void install(Plan made) {
            boolean isUnused;
            synchronized (this) {
                isUnused = dropped;
                plan = dropped ? plan : Optional.of(made);
            }
            if (isUnused) {
                made.placing.close();
            }
            tally.replan();
        }

        private void drop() {
            Optional<Plan> before;
            synchronized (this) {
                dropped = true;
                before = plan;
                plan = Optional.empty();
            }
            before.ifPresent(old -> old.placing.close());
        }
    }
}
