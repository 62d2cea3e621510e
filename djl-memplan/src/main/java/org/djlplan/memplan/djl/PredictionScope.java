package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDResource;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.runtime.torch.TorchPrediction;

/**
 * What belongs to one call of a predictor: until the call's manager is closed, and with it the
 * arrays of the call. DJL closes temporary resources, of which this pretends to be one, after all
 * others; so when this is closed, whatever still lives outlives the call.
 */
final class PredictionScope implements NDResource {

    /** Weak, as threads outlive applications; a manager keeps its scope until it is closed. */
    private static final ThreadLocal<WeakReference<PredictionScope>> CURRENT = new ThreadLocal<>();

    private final NDManager manager;
    private final Optional<PredictionScope> outer;
    private Optional<TorchPrediction> pending = Optional.empty();

    private PredictionScope(NDManager manager, Optional<PredictionScope> outer) {
        this.manager = manager;
        this.outer = outer;
    }

    /** Opens a scope on this thread, unless the one of the same call is open already. */
    static void open(NDManager callManager) {
        if (current().filter(scope -> scope.manager == callManager).isEmpty()) {
            // A translator may itself predict, with another model.
            PredictionScope scope = new PredictionScope(callManager, open());
            callManager.tempAttachInternal(
                    callManager, "djl-plan-" + System.identityHashCode(scope), scope);
            CURRENT.set(new WeakReference<>(scope));
        }
    }

    private static Optional<PredictionScope> current() {
        WeakReference<PredictionScope> scope = CURRENT.get();
        return scope == null ? Optional.empty() : Optional.ofNullable(scope.get());
    }

    private static Optional<PredictionScope> open() {
        return current().filter(scope -> scope.manager.isOpen());
    }

    /** Returns whether this thread is in a call of a predictor that we know of. */
    static boolean isOpen() {
        return open().isPresent();
    }

    /** Finishes what an earlier forward pass of this thread left, so that its arena is free. */
    static void beginForward() {
        current().ifPresent(PredictionScope::finish);
    }

    /** Finishes a paused prediction: with the call that it belongs to, or else at once. */
    static void endForward(TorchPrediction prediction) {
        Optional<PredictionScope> scope = open();
        if (scope.isPresent()) {
            scope.get().put(prediction);
        } else {
            prediction.finish();
        }
    }

    private synchronized void put(TorchPrediction prediction) {
        pending.ifPresent(TorchPrediction::finish);
        pending = Optional.of(prediction);
    }

    private synchronized void finish() {
        pending.ifPresent(TorchPrediction::finish);
        pending = Optional.empty();
    }

    @Override
    public void close() {
        finish();
        if (current().filter(scope -> scope == this).isPresent()) {
            CURRENT.remove();
            outer.filter(scope -> scope.manager.isOpen())
                    .ifPresent(scope -> CURRENT.set(new WeakReference<>(scope)));
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
