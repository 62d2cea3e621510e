package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.formula.Guess;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Serves predictions of one model whose input shapes have no plan of their own. If recordings of
 * other shapes predict the allocations of such a prediction, it is planned. Otherwise it is
 * recorded, if a recording would help to predict other shapes.
 *
 * <p>A plan is made before the prediction, on its thread, if that costs little ({@link
 * PlanningCost}). A planned prediction has its own arena. Predictions that overlap are not planned:
 * they run online in a shared arena, which takes less memory than one arena each.
 */
final class ShapePlans implements AutoCloseable {

    private static final int MOST_TYPES = 32;
    private static final int MOST_PLANS = 64;
    private static final int FIRST_PATIENCE = 3;

    /**
     * After the formulas predicted this many shapes in a row, only one shape in {@link #ONE_OF} is
     * checked for whether its recording would help.
     */
    private static final int MANY_TOLD = 32;

    private static final int ONE_OF = 16;

    private final Supplier<AllocationPlans> plans;
    private final TorchArenas arenas;
    private final AllocationSequence.Background background;
    private final AllocationSequence.Tally tally;
    private final LongSupplier clock;

    /** Read at each prediction, seldom added to. */
    private final List<OfTypes> known = new CopyOnWriteArrayList<>();

    private volatile boolean closed;

    /**
     * @param plans asked when the first shape is seen
     * @param clock in nanoseconds
     */
    ShapePlans(
            Supplier<AllocationPlans> plans,
            TorchArenas arenas,
            AllocationSequence.Background background,
            AllocationSequence.Tally tally,
            LongSupplier clock) {
        this.plans = plans;
        this.arenas = arenas;
        this.background = background;
        this.tally = tally;
        this.clock = clock;
    }

    /**
     * Begins a prediction on this thread if other shapes predict its allocations: with planned
     * places, or online to time it. Empty if its allocations are not certain, or a plan does not
     * pay.
     *
     * @param wait how long to wait for an arena if it is online
     */
    Optional<TorchPrediction> begin(List<ArrayType> inputs, int threads, Duration wait) {
        Optional<OfTypes> types = types(inputs, threads);
        return types.isEmpty() ? Optional.empty() : types.get().begin(shape(inputs), wait);
    }

    /**
     * Begins an online prediction on this thread, and records it if the recording would improve the
     * formulas.
     */
    Optional<TorchPrediction> beginOnline(List<ArrayType> inputs, int threads, Duration wait) {
        Optional<OfTypes> types = types(inputs, threads);
        return types.isPresent()
                ? types.get().beginOnline(shape(inputs), wait)
                : arenas.begin(wait, tally);
    }

    /**
     * Returns how many bytes a prediction's tensors are expected to take at once: its arena, and
     * allocations that outlive it.
     */
    OptionalLong bytes(List<ArrayType> inputs, int threads) {
        AllocationPlans.OfShapes shapes = plans.get().ofShapes(inputs, threads);
        Optional<Guess> guess = shapes.guess(shape(inputs));
        Optional<QuickPlan> planned = guess.flatMap(shapes::plan);
        return planned.isPresent()
                ? OptionalLong.of(planned.get().arenaBytes() + guess.get().leftBytes())
                : OptionalLong.empty();
    }

    private static long elements(ImmutableLongArray shape) {
        long elements = 1;
        for (int i = 0; i < shape.length(); i++) {
            elements *= shape.get(i);
        }
        return elements;
    }

    private static ImmutableLongArray shape(List<ArrayType> inputs) {
        ImmutableLongArray.Builder shape = ImmutableLongArray.builder();
        for (ArrayType input : inputs) {
            shape.addAll(input.shape());
        }
        return shape.build();
    }

    private Optional<OfTypes> types(List<ArrayType> inputs, int threads) {
        Optional<OfTypes> found = find(inputs, threads);
        return found.isPresent() ? found : add(inputs, threads);
    }

    private Optional<OfTypes> find(List<ArrayType> inputs, int threads) {
        for (OfTypes types : known) {
            if (types.include(inputs, threads)) {
                return Optional.of(types);
            }
        }
        return Optional.empty();
    }

    private Optional<OfTypes> add(List<ArrayType> inputs, int threads) {
        if (closed || known.size() >= MOST_TYPES) {
            return Optional.empty();
        }
        // Outside the lock, because it may read a file.
        OfTypes types = new OfTypes(inputs, threads);
        synchronized (known) {
            Optional<OfTypes> found = find(inputs, threads);
            if (found.isPresent() || closed || known.size() >= MOST_TYPES) {
                return found;
            }
            known.add(types);
            return Optional.of(types);
        }
    }

    /**
     * Inputs of the same types and ranks whose dimensions are 1 in the same positions. Predictions
     * with such inputs mostly have the same structure.
     */
    private final class OfTypes {

        /** One example of such inputs. */
        private final List<ArrayType> example;

        private final int threads;
        private final AllocationPlans.OfShapes shapes;

        /** Plans, least recently used first. */
        private final Map<ImmutableLongArray, Planned> planned =
                new LinkedHashMap<>(16, .75f, true);

        private final PlanningCost cost = new PlanningCost(clock);
        private final IncompleteRecordings incomplete = new IncompleteRecordings();
        private boolean recording;

        /** Whether a prediction deviated from the formulas. */
        private boolean isWrong;

        private int patience = FIRST_PATIENCE;
        private int pause;

        /** How many shapes in a row the formulas predicted. */
        private int told;

        /** A plan in use by predictions. Compared by identity. */
        private final class Planned {

            private final QuickPlan plan;
            private final AllocationWatch.Placing placing;

            Planned(QuickPlan plan) {
                this.plan = plan;
                placing = arenas.take(plan);
            }
        }

        OfTypes(List<ArrayType> inputs, int threads) {
            example = inputs;
            this.threads = threads;
            shapes = plans.get().ofShapes(inputs, threads);
        }

        boolean include(List<ArrayType> inputs, int otherThreads) {
            if (otherThreads != threads || inputs.size() != example.size()) {
                return false;
            }
            for (int i = 0; i < inputs.size(); i++) {
                if (!isLike(example.get(i), inputs.get(i))) {
                    return false;
                }
            }
            return true;
        }

        private static boolean isLike(ArrayType one, ArrayType other) {
            int rank = one.shape().size();
            if (rank != other.shape().size() || !one.dataType().equals(other.dataType())) {
                return false;
            }
            for (int i = 0; i < rank; i++) {
                if ((one.shape().get(i) == 1) != (other.shape().get(i) == 1)) {
                    return false;
                }
            }
            return true;
        }

        Optional<TorchPrediction> begin(ImmutableLongArray shape, Duration wait) {
            Planned known;
            synchronized (this) {
                if (pause > 0) {
                    pause--;
                    return Optional.empty();
                }
                known = planned.get(shape);
            }
            if (known != null) {
                return place(shape, known);
            }
            if (cost.isTooSmall(elements(shape))) {
                return Optional.empty();
            }
            Optional<Guess> guess = arenas.isAlone() ? shapes.guess(shape) : Optional.empty();
            if (guess.isEmpty()) {
                return Optional.empty();
            }
            if (!isTimed(guess.get())) {
                return beginTimed(guess.get().sumBytes(), wait);
            }
            return cost.pays(guess.get().sumBytes(), elements(shape))
                    ? make(guess.get()).flatMap(made -> place(shape, keep(shape, made)))
                    : Optional.empty();
        }

        /**
         * Returns whether it is known how long planning and predicting take; otherwise times
         * planning in the background.
         */
        private boolean isTimed(Guess guess) {
            if (cost.isKnown()) {
                return true;
            }
            if (cost.beginTiming()
                    && !background.offer(() -> cost.time(() -> makeAndDrop(guess)))) {
                cost.abandonTiming();
            }
            return false;
        }

        /** Returns whether a plan could be made. */
        private boolean makeAndDrop(Guess guess) {
            Optional<Planned> made = make(guess);
            made.ifPresent(each -> each.placing.close());
            return made.isPresent();
        }

        private Optional<Planned> make(Guess guess) {
            return shapes.plan(guess).map(Planned::new);
        }

        /** Returns the plan to use. */
        private synchronized Planned keep(ImmutableLongArray shape, Planned made) {
            Planned other = planned.get(shape);
            if (other != null || closed) {
                made.placing.close();
                return other == null ? made : other;
            }
            planned.put(shape, made);
            if (planned.size() > MOST_PLANS) {
                drop(planned.keySet().iterator().next());
            }
            return made;
        }

        private synchronized void drop(ImmutableLongArray shape) {
            Planned dropped = planned.remove(shape);
            if (dropped != null) {
                dropped.placing.close();
            }
        }

        private synchronized void dropAll() {
            planned.values().forEach(each -> each.placing.close());
            planned.clear();
        }

        private Optional<TorchPrediction> place(ImmutableLongArray shape, Planned plan) {
            long since = clock.getAsLong();
            return arenas.beginAlone(
                    Math.max(1, plan.plan.arenaBytes()),
                    arena -> {
                        synchronized (this) {
                            return plan.equals(planned.get(shape))
                                    ? plan.placing.replay(arena)
                                    : Optional.empty();
                        }
                    },
                    (run, failed) -> {
                        AllocationWatch.Outcome outcome = tally.finishPlaced(run);
                        if (!failed) {
                            cost.predicted(clock.getAsLong() - since, plan.plan.guess().sumBytes());
                            judge(shape, plan, outcome);
                        }
                        return outcome;
                    });
        }

        private void judge(
                ImmutableLongArray shape, Planned plan, AllocationWatch.Outcome outcome) {
            if (!outcome.asRecorded()) {
                synchronized (this) {
                    drop(shape);
                    isWrong = true;
                    pause = patience;
                    patience = Math.min(2 * patience, Integer.MAX_VALUE / 2);
                }
            } else if (!outcome.alive().isEmpty()) {
                background.offer(() -> leave(shape, plan.plan.guess().trace(), outcome.alive()));
            }
        }

        /** Leaves allocations that outlive predictions to the engine. */
        private void leave(ImmutableLongArray shape, AllocationTrace trace, Set<Integer> alive) {
            shapes.learn(shape, trace.withEscaped(alive));
            dropAll();
        }

        private Optional<TorchPrediction> beginTimed(long sumBytes, Duration wait) {
            long since = clock.getAsLong();
            Optional<TorchPrediction> begun =
                    arenas.begin(
                            wait,
                            false,
                            (run, failed) -> {
                                if (!failed) {
                                    cost.predicted(clock.getAsLong() - since, sumBytes);
                                }
                                return tally.finish(run);
                            });
            begun.ifPresent(unused -> tally.unplannedPredictions.incrementAndGet());
            return begun;
        }

        Optional<TorchPrediction> beginOnline(ImmutableLongArray shape, Duration wait) {
            if (!beginRecording(shape)) {
                return arenas.begin(wait, tally);
            }
            Optional<TorchPrediction> begun = Optional.empty();
            try {
                begun = arenas.begin(wait, true, new Recording(shape));
            } finally {
                if (begun.isEmpty()) {
                    stopRecording();
                }
            }
            return begun;
        }

        private synchronized boolean beginRecording(ImmutableLongArray shape) {
            if (recording || !(isWrong || tells(shape)) || !incomplete.mayRecord()) {
                return false;
            }
            recording = true;
            return true;
        }

        /**
         * Returns whether a recording of this shape would improve the formulas. If recordings of
         * many shapes did not, few more are made.
         */
        private boolean tells(ImmutableLongArray shape) {
            if (told >= MANY_TOLD && ++told % ONE_OF != 0) {
                return false;
            }
            boolean tells = shapes.wants(shape) && shapes.guess(shape).isEmpty();
            told = tells ? 0 : Math.min(told + 1, MANY_TOLD);
            return tells;
        }

        private synchronized void stopRecording() {
            recording = false;
        }

        /** A prediction that is recorded in order to predict the allocations for other shapes. */
        private final class Recording implements TorchArenas.Ending {

            private final ImmutableLongArray shape;
            private Optional<AllocationTrace> trace = Optional.empty();

            Recording(ImmutableLongArray shape) {
                this.shape = shape;
            }

            @Override
            public AllocationWatch.Outcome end(AllocationWatch.Run run, boolean failed) {
                try {
                    trace = failed ? Optional.empty() : run.recorded();
                } catch (RuntimeException | Error e) {
                    AllocationWatch.Outcome unused = run.finish();
                    throw e;
                }
                if (!failed && trace.isEmpty()) {
                    note(false);
                }
                tally.recordings.incrementAndGet();
                return tally.finish(run);
            }

            @Override
            public void closed() {
                if (trace.isEmpty() || !background.offer(() -> learn(trace.get()))) {
                    stopRecording();
                }
            }

            /** Adds the recording to the formulas, in the background. */
            private void learn(AllocationTrace noted) {
                boolean learnt = false;
                try {
                    shapes.learn(shape, noted);
                    learnt = true;
                } finally {
                    note(learnt);
                    stopRecording();
                }
            }

            private void note(boolean learnt) {
                synchronized (OfTypes.this) {
                    incomplete.note(learnt);
                    isWrong &= !learnt;
                }
            }
        }
    }

    /** Closes the plans; running predictions keep what they use. */
    @Override
    public void close() {
        synchronized (known) {
            closed = true;
        }
        known.forEach(OfTypes::dropAll);
    }
}
