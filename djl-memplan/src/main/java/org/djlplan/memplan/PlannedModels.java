package org.djlplan.memplan;

import ai.djl.ModelException;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.djlplan.memplan.djl.SharedModels;
import org.djlplan.memplan.djl.SharedPools;
import org.djlplan.memplan.report.PoolReport;

/**
 * One model per JVM, for tasks, operators and threads that would each load their own: in a
 * partition of Spark, an operator of Flink, a {@code DoFn} of Beam.
 *
 * <pre>{@code
 * try (ZooModel<Image, Classifications> model = PlannedModels.get("classifier", criteria);
 *         Predictor<Image, Classifications> predictor = model.newPredictor()) {
 *     while (images.hasNext()) {
 *         results.add(predictor.predict(images.next()));
 *     }
 * }
 * }</pre>
 */
public final class PlannedModels {

    /** From the end of a task to the beginning of the next one it is shorter. */
    private static final Duration GRACE = Duration.ofMinutes(1);

    private static final SharedModels MODELS = new SharedModels(GRACE);

    private PlannedModels() {}

    /**
     * Returns the model of a key, loaded as the criteria say by the first who asks; others who ask
     * meanwhile wait. Closing the model gives it back; it is closed a minute after everybody has,
     * and when those who have not are garbage, with their predictors and their class loader.
     *
     * <p>Criteria that are given later for the same key have the same types and the same options of
     * ours; DJL cannot compare the rest. A job that has other options than the one before gets a
     * model that is loaded with them, once nobody uses the other one.
     *
     * <p>A key is for classes of one context class loader: two applications in one server do not
     * meet. What is set on the model, such as a data type, is set for all.
     *
     * <p>With the option {@code memplan.sharedBudget} all models that are loaded so are inside of
     * one {@link SharedBudget}. Another size counts once nobody uses a model of the former one.
     * What nobody uses is closed where another model needs the room.
     *
     * @param key such as the model's name and version
     * @throws ModelException as {@link Criteria#loadModel()}; the next one who asks tries again
     * @throws IOException as {@link Criteria#loadModel()}
     * @throws IllegalArgumentException if the key's model has other types, or is used with other
     *     options, or models are used that share a budget of another size
     */
    public static <I, O> ZooModel<I, O> get(String key, Criteria<I, O> criteria)
            throws IOException, ModelException {
        return SharedBudget.getInProcess(MODELS, key, criteria, options(criteria));
    }

    /**
     * The same for a model that is loaded inside of a budget which it shares with others of this
     * JVM, such as an executor's.
     *
     * @throws ModelException as {@link SharedBudget#load}
     * @throws IOException as {@link SharedBudget#load}
     */
    public static <I, O> ZooModel<I, O> get(
            String key, Criteria<I, O> criteria, SharedBudget budget)
            throws IOException, ModelException {
        return budget.get(MODELS, key, criteria, options(criteria));
    }

    /** Returns the options of a load, in a form that can be compared. */
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

    /** Returns a text; of what has none that tells what it is, its class's name. */
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

    /** Returns figures of what all planned models of this process share, as of now. */
    public static PoolReport pools() {
        return SharedPools.report();
    }

    /**
     * Closes at once what nobody uses of the models that a context class loader's classes asked
     * for: when an application ends that shares its JVM with others, as a job of Flink does.
     *
     * @param context the class loader, which may be closed already
     */
    public static void closeUnused(ClassLoader context) {
        MODELS.closeUnused(context);
    }
}
