package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDResource;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.runtime.HeapTrimmer;
import org.djlplan.memplan.internal.runtime.torch.TorchPrediction;
import org.djlplan.memplan.report.PoolReport;

/**
 * One call of a predictor and its resources. The scope ends when the call's manager is closed,
 * which also closes the call's arrays. The scope is a temporary resource of the manager, and DJL
 * closes temporary resources last. So arrays that are still open when the scope ends outlive the
 * call.
 */
final class PredictionScope implements NDResource {

    /**
     * The current scope of a thread, in an array with one element. It has only the JDK's own types
     * and is weak, because threads outlive applications; the call's manager keeps the scope until
     * it is closed.
     */
    private static final ThreadLocal<Reference<?>[]> CURRENT = new ThreadLocal<>();

    private final NDManager manager;
    private final Optional<PredictionScope> outer;
    private final Optional<ModelInUse> use;
    private final Optional<Limit> limit;
    private Optional<TorchPrediction> pending = Optional.empty();
    private boolean left;

    /**
     * Limits the number of predictions of a model that run at once, including their pre- and
     * post-processing; others wait in order of arrival. This limits the memory that translators
     * allocate.
     */
    static final class Limit {

        private final Semaphore places;

        /**
         * @param predictions limit of predictions at once
         */
        Limit(int predictions) {
            places = new Semaphore(predictions, true);
        }

        /** Waits for a place; an interrupt is preserved. */
        void enter() {
            // New callers do not overtake waiting ones.
            if (places.hasQueuedThreads() || !places.tryAcquire()) {
                long since = System.nanoTime();
                places.acquireUninterruptibly();
                Waits.add(PoolReport.Cause.PREDICTIONS, System.nanoTime() - since);
            }
        }

        void leave() {
            places.release();
            HeapTrimmer.touch();
        }
    }

    private PredictionScope(
            NDManager manager,
            Optional<PredictionScope> outer,
            Optional<ModelInUse> use,
            Optional<Limit> limit) {
        this.manager = manager;
        this.outer = outer;
        this.use = use;
        this.limit = limit;
    }

    /**
     * Opens a scope on this thread, unless a scope of the same call is already open.
     *
     * @param model whose resources outlive the call; empty for a call that may never end
     * @param limit of the model; a nested call does not count
     * @throws IllegalStateException if the model is closed
     */
    static void open(NDManager callManager, Optional<ModelInUse> model, Optional<Limit> limit) {
        Reference<?>[] place = place();
        Optional<PredictionScope> current = scope(place[0]);
        if (current.isEmpty() || current.get().manager != callManager) {
            // A translator may itself predict, with another model.
            Optional<PredictionScope> outer = ifOpen(current);
            Optional<Limit> passed = outer.isEmpty() ? limit : Optional.empty();
            model.ifPresent(used -> used.begin(callManager));
            if (passed.isPresent()) {
                passed.get().enter();
            }
            PredictionScope scope = new PredictionScope(callManager, outer, model, passed);
            try {
                // Not a longer name, because joining strings is much code for Java's compilers.
                callManager.tempAttachInternal(
                        callManager, Integer.toString(System.identityHashCode(scope)), scope);
            } catch (RuntimeException | Error e) {
                scope.leave();
                throw e;
            }
            place[0] = new WeakReference<>(scope);
        }
    }

    /** Returns this thread's array in {@link #CURRENT}. */
    private static Reference<?>[] place() {
        Reference<?>[] place = CURRENT.get();
        return place == null ? newPlace() : place;
    }

    private static Reference<?>[] newPlace() {
        Reference<?>[] place = new Reference<?>[1];
        CURRENT.set(place);
        return place;
    }

    private static Optional<PredictionScope> scope(Reference<?> reference) {
        return reference == null
                ? Optional.empty()
                : Optional.ofNullable((PredictionScope) reference.get());
    }

    private static Optional<PredictionScope> open() {
        return ifOpen(scope(place()[0]));
    }

    private static Optional<PredictionScope> ifOpen(Optional<PredictionScope> scope) {
        return scope.isPresent() && scope.get().manager.isOpen() ? scope : Optional.empty();
    }

    /** Returns whether this thread is in a known predictor call. */
    static boolean isOpen() {
        return open().isPresent();
    }

    /** Returns whether this thread is in a call that its model's resources outlive. */
    static boolean isUse() {
        return open().flatMap(scope -> scope.use).isPresent();
    }

    /**
     * Returns a task that another thread can run as part of this thread's current predictor call.
     */
    static <T> Supplier<T> carried(Supplier<T> task) {
        Reference<?> carried = place()[0];
        if (carried == null) {
            return task;
        }
        return () -> {
            Reference<?>[] place = place();
            Reference<?> own = place[0];
            place[0] = carried;
            try {
                return task.get();
            } finally {
                place[0] = own;
            }
        };
    }

    /** Finishes the previous forward pass of this thread's call, so that its arena is free. */
    static void finishPrevious() {
        open().ifPresent(PredictionScope::finish);
    }

    /** Finishes a paused prediction when its call ends, or at once without a call. */
    static void endForward(TorchPrediction prediction) {
        Optional<PredictionScope> scope = open();
        if (scope.isPresent()) {
            scope.get().put(prediction);
        } else {
            prediction.finish();
        }
    }

    private synchronized void put(TorchPrediction prediction) {
        finish();
        pending = Optional.of(prediction);
    }

    private synchronized void finish() {
        if (pending.isPresent()) {
            pending.get().finish();
        }
        pending = Optional.empty();
    }

    @Override
    public void close() {
        finish();
        leave();
        Reference<?>[] place = place();
        if (place[0] != null && place[0].get() == this) {
            boolean isNested = outer.isPresent() && outer.get().manager.isOpen();
            place[0] = isNested ? new WeakReference<>(outer.get()) : null;
        }
    }

    private synchronized void leave() {
        if (!left) {
            left = true;
            if (limit.isPresent()) {
                limit.get().leave();
            }
            use.ifPresent(ModelInUse::end);
        }
    }

    @Override
    public NDManager getManager() {
        return manager;
    }

    @Override
    public List<NDArray> getResourceNDArrays() {
        return List.of();
    }

    @Override
    public void attach(NDManager other) {
        close();
    }

    @Override
    public void tempAttach(NDManager other) {
        throw new UnsupportedOperationException("not an array");
    }

    @Override
    public void detach() {
        throw new UnsupportedOperationException("not an array");
    }
}
