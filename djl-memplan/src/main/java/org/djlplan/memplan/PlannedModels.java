package org.djlplan.memplan;

import ai.djl.ModelException;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.djlplan.memplan.internal.djl.SharedModels;
import org.djlplan.memplan.internal.djl.SharedPools;
import org.djlplan.memplan.report.PoolReport;

/**
 * Shares one model per JVM among tasks, operators and threads that would each load their own: a
 * partition of Spark, an operator of Flink, a {@code DoFn} of Beam.
 *
 * <pre>{@code
 * try (ZooModel<Image, Classifications> model = PlannedModels.acquire("classifier", criteria);
 *         Predictor<Image, Classifications> predictor = model.newPredictor()) {
 *     while (images.hasNext()) {
 *         results.add(predictor.predict(images.next()));
 *     }
 * }
 * }</pre>
 */
public final class PlannedModels {

    /** Longer than the usual time between two tasks. */
    private static final Duration GRACE = Duration.ofMinutes(1);

    private static final SharedModels MODELS = new SharedModels(GRACE);

    private PlannedModels() {}

    /**
     * Returns the model of a key. The first caller loads it according to the criteria, and other
     * callers wait meanwhile. Closing the model releases it. It is closed one minute after all
     * callers have released it. A caller that has become garbage, with its predictors and its class
     * loader, counts as having released it. But a model with a block of the caller's own class
     * retains the class loader until it is closed.
     *
     * <p>Later criteria for the same key must have the same types and the same djl-plan options;
     * DJL cannot compare the rest. A job with other options gets a model that is loaded with them,
     * once the previous one is no longer in use.
     *
     * <p>Each context class loader has its own keys, so two applications in one server do not share
     * models. Settings of the model, such as a data type, apply to all callers.
     *
     * <p>With the option {@code memplan.sharedBudget} all models loaded in this way share one
     * {@link SharedBudget}. Another size takes effect once no model of the former size is in use.
     * Unused models are closed if another one needs the room.
     *
     * @param key such as the model's name and version
     * @throws ModelException as {@link Criteria#loadModel()}; the next caller tries again
     * @throws IOException as {@link Criteria#loadModel()}
     * @throws IllegalArgumentException if the key's model has other types, or is in use with other
     *     options, or models with a shared budget of another size are in use
     */
    public static <I, O> ZooModel<I, O> acquire(String key, Criteria<I, O> criteria)
            throws IOException, ModelException {
        return SharedBudget.getInProcess(MODELS, key, criteria, options(criteria));
    }

    /**
     * The same for a model in a budget that it shares with other models of this JVM, for example a
     * Spark executor.
     *
     * @throws ModelException as {@link SharedBudget#load}
     * @throws IOException as {@link SharedBudget#load}
     */
    public static <I, O> ZooModel<I, O> acquire(
            String key, Criteria<I, O> criteria, SharedBudget budget)
            throws IOException, ModelException {
        return budget.get(MODELS, key, criteria, options(criteria));
    }

    /** Returns the options of a load in comparable form. */
    private static Map<String, Object> options(Criteria<?, ?> criteria) {
        Map<String, Object> given = new HashMap<>();
        if (criteria.getArguments() != null) {
            given.putAll(criteria.getArguments());
            given.keySet().removeIf(key -> !key.matches("(memplan|delegation)(\\..*)?"));
        }
        if (criteria.getTranslatorFactory() instanceof PlannedTranslatorFactory planned) {
            given.putAll(planned.options());
        }
        given.replaceAll((key, value) -> comparable(value));
        return given;
    }

    /** Returns a comparable text; for an object without a useful text, the name of its class. */
    private static String comparable(Object value) {
        boolean told =
                value instanceof CharSequence
                        || value instanceof Number
                        || value instanceof Boolean
                        || value instanceof Path
                        || value instanceof Map
                        || value == null;
        return told ? String.valueOf(value) : value.getClass().getName();
    }

    /**
     * Returns the current figures of the resources that all planned models of this process share.
     */
    public static PoolReport pools() {
        return SharedPools.report();
    }

    /**
     * Closes at once the unused models of a context class loader. Call it when an application in a
     * shared JVM ends, such as a job of Flink.
     *
     * @param context the class loader, which may be closed already
     */
    public static void closeUnused(ClassLoader context) {
        MODELS.closeUnused(context);
    }
}
