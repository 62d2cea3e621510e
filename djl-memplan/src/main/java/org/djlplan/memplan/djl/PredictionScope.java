package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDResource;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.runtime.torch.TorchPrediction;

/**
 * What belongs to one call of a predictor: until the call's manager is closed, and with it the
 * arrays of the call. DJL closes temporary resources, of which this pretends to be one, after all
 * others; so when this is closed, whatever still lives outlives the call.
 */
final class PredictionScope implements NDResource {

    private static final ThreadLocal<Optional<PredictionScope>> CURRENT =
            ThreadLocal.withInitial(Optional::empty);

    private final NDManager manager;
    private final Optional<PredictionScope> outer;
    private Optional<TorchPrediction> pending = Optional.empty();

    private PredictionScope(NDManager manager, Optional<PredictionScope> outer) {
        this.manager = manager;
        this.outer = outer;
    }

    /** Opens a scope on this thread, unless the one of the same call is open already. */
    static void open(NDManager callManager) {
        if (CURRENT.get().filter(scope -> scope.manager == callManager).isEmpty()) {
            // A translator may itself predict, with another model.
            PredictionScope scope =
                    new PredictionScope(
                            callManager, CURRENT.get().filter(open -> open.manager.isOpen()));
            callManager.tempAttachInternal(
                    callManager, "djl-plan-" + System.identityHashCode(scope), scope);
            CURRENT.set(Optional.of(scope));
        }
    }

    /** Finishes what an earlier forward pass of this thread left, so that its arena is free. */
    static void beginForward() {
        CURRENT.get().ifPresent(PredictionScope::finish);
    }

    /** Finishes a paused prediction: with the call that it belongs to, or else at once. */
    static void endForward(TorchPrediction prediction) {
        Optional<PredictionScope> scope = CURRENT.get().filter(open -> open.manager.isOpen());
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
        if (CURRENT.get().filter(scope -> scope == this).isPresent()) {
            CURRENT.set(outer.filter(open -> open.manager.isOpen()));
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
