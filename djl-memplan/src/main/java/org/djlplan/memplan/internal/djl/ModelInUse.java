package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.BaseNDManager;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.lang.reflect.Field;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.Uses;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the resources of a closed model live until its calls and passes have ended. DJL closes all
 * that belongs to a model at once, and if an engine then reads freed memory, the JVM ends.
 */
final class ModelInUse {

    private static final Logger logger = LoggerFactory.getLogger(ModelInUse.class);

    /** Empty if DJL's managers are not as expected; then predictors are closed with the model. */
    private static final Optional<Field> ID = idField();

    private final String name;
    private final NDManager manager;
    private final Uses uses = new Uses();

    /** Guarded by this. */
    private boolean keepsArrays;

    ModelInUse(Model model) {
        name = model.getName();
        manager = model.getNDManager();
    }

    private static Optional<Field> idField() {
        try {
            Field id = BaseNDManager.class.getDeclaredField("uid");
            id.setAccessible(true);
            return Optional.of(id);
        } catch (NoSuchFieldException | RuntimeException e) {
            logger.debug("models must not be closed while they predict", e);
            return Optional.empty();
        }
    }

    /** Returns a pass that the model's resources outlive. */
    InferencePass guard(InferencePass pass) {
        return (parameters, inputs, params) -> {
            begin();
            try {
                keepArrays();
                if (!inputs.isEmpty() && !PredictionScope.isUse()) {
                    keepPredictor(inputs.head().getManager());
                }
                return pass.forward(parameters, inputs, params);
            } finally {
                end();
            }
        };
    }

    /**
     * Begins a use by a predictor's call, whose predictor is closed with the model, but after the
     * call.
     *
     * @param call its manager
     * @throws IllegalStateException if the model is closed
     */
    void begin(NDManager call) {
        begin();
        try {
            keepPredictor(call);
        } catch (RuntimeException | Error e) {
            end();
            throw e;
        }
    }

    private void begin() {
        if (!uses.begin()) {
            throw closed();
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException(name + " is closed");
    }

    /** Ends what {@link #begin} began. */
    void end() {
        uses.end();
    }

    /** Closes a resource after the last use, and lets no other use begin. */
    void close(AutoCloseable resource) {
        uses.close(
                () -> {
                    try {
                        resource.close();
                    } catch (Exception e) {
                        logger.debug("a resource of {} is not closed", name, e);
                    }
                });
    }

    /** Attaches a resource to the model, so that it is closed with it, but after the last use. */
    void attach(String id, AutoCloseable resource) {
        manager.attachInternal(id, (AutoCloseable) () -> close(resource));
    }

    /** Lets a resource that the model has already be closed after the last use. */
    private void keep(String id, AutoCloseable resource) {
        manager.attachUncappedInternal(id, () -> close(resource));
    }

    /** Keeps the model's own arrays, such as the parameters of an imperative block. */
    private synchronized void keepArrays() {
        if (!keepsArrays) {
            for (NDArray array : manager.getManagedArrays()) {
                if (array.getManager() == manager) {
                    keep(array.getUid(), array);
                }
            }
            requireOpen();
            keepsArrays = true;
        }
    }

    /**
     * Keeps a predictor's manager.
     *
     * @param part a manager that may belong to a predictor of the model
     */
    private void keepPredictor(NDManager part) {
        NDManager child = part;
        NDManager parent = child.getParentManager();
        while (parent != null && parent != manager) {
            child = parent;
            parent = child.getParentManager();
        }
        if (parent != null && child instanceof BaseNDManager predictor && ID.isPresent()) {
            try {
                keep((String) ID.get().get(predictor), predictor);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
            requireOpen();
        }
    }

    /** Fails if the model was closed before all that it is to keep was attached. */
    private void requireOpen() {
        if (!manager.isOpen()) {
            throw closed();
        }
    }
}
