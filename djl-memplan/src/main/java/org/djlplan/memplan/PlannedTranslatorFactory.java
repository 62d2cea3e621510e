package org.djlplan.memplan;

import ai.djl.Model;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import ai.djl.util.Progress;
import java.io.InvalidObjectException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.djl.ModelPlanning;
import org.djlplan.memplan.internal.djl.ScopedTranslator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans the memory of a model while DJL loads it. In code:
 *
 * <pre>{@code
 * Criteria.builder()
 *     .setTypes(Image.class, Classifications.class)
 *     .optModelPath(modelDir)
 *     .optTranslatorFactory(PlannedTranslatorFactory.wrap(new ImageClassificationTranslatorFactory()))
 *     .build();
 * }</pre>
 *
 * <p>{@link #with} sets an option by its key; {@link #builder} has a typed method for each.
 *
 * <p>Without code: set {@code translatorFactory=org.djlplan.memplan.PlannedTranslatorFactory} in a
 * model's metadata {@code arguments} or in its URL's query; {@code memplan.translatorFactory} names
 * the factory to wrap.
 *
 * <p>A model that cannot be planned runs as it would without this factory, and one warning says
 * why; with {@code memplan.required=true} it fails to load. {@link
 * org.djlplan.memplan.report.PlanReport#of} returns the report.
 *
 * <p>The factory can be serialized, for example as part of a closure of Spark or Beam, if the
 * wrapped factory and the values of its options can; otherwise {@link NotSerializableException}
 * names the obstacle.
 */
public final class PlannedTranslatorFactory implements TranslatorFactory, Serializable {

    private static final long serialVersionUID = 1;

    private static final Logger logger = LoggerFactory.getLogger(PlannedTranslatorFactory.class);

    private final transient Optional<TranslatorFactory> inner;
    private final transient Map<String, Object> options;
    private final transient Optional<Progress> progress;

    /** Wraps the factory named by {@code memplan.translatorFactory}, or DJL's default factory. */
    public PlannedTranslatorFactory() {
        this(Optional.empty(), Map.of(), Optional.empty());
    }

    private PlannedTranslatorFactory(
            Optional<TranslatorFactory> inner,
            Map<String, Object> options,
            Optional<Progress> progress) {
        this.inner = inner;
        this.options = options;
        this.progress = progress;
        try {
            ModelPlanning.checkPlatform();
        } catch (Error e) {
            // Later code that needs it will report the error.
            logger.debug("the platform is unknown", e);
        }
    }

    /**
     * Returns a builder with a method for each option.
     *
     * @since 0.3
     */
    public static PlannedTranslatorFactoryBuilder builder() {
        return new PlannedTranslatorFactoryBuilder();
    }

    /** Returns a factory that plans the model and delegates translation to {@code inner}. */
    public static PlannedTranslatorFactory wrap(TranslatorFactory inner) {
        return inner instanceof PlannedTranslatorFactory planned
                ? planned
                : new PlannedTranslatorFactory(Optional.of(inner), Map.of(), Optional.empty());
    }

    /** Returns a factory that plans the model and translates with {@code translator}. */
    public static PlannedTranslatorFactory wrap(Translator<?, ?> translator) {
        return wrap(new GivenTranslator(translator));
    }

    /**
     * Returns this factory with an additional option, set by the application. It takes precedence
     * over system properties ({@code -Ddjlplan.KEY=VALUE}) and DJL's arguments. Some values are not
     * accepted in arguments, because these may come from a model's folder.
     *
     * @param key such as {@code memplan.threads}; an unknown one is an error when a model is loaded
     * @param value such as {@code 4} or {@code "4"}
     * @throws IllegalArgumentException if no option has such a key
     */
    public PlannedTranslatorFactory with(String key, Object value) {
        try {
            ModelPlanning.checkKey(key);
        } catch (LinkageError e) {
            // The model will run as in DJL, with a warning.
            logger.debug("{} was not checked", key, e);
        }
        Map<String, Object> all = new LinkedHashMap<>(options);
        all.put(key, Objects.requireNonNull(value, key));
        return new PlannedTranslatorFactory(inner, Collections.unmodifiableMap(all), progress);
    }

    /**
     * Returns this factory with a progress display for measuring delegation.
     *
     * @param shown such as a {@code ProgressBar}; called from the measuring thread
     */
    public PlannedTranslatorFactory withProgress(Progress shown) {
        return new PlannedTranslatorFactory(inner, options, Optional.of(shown));
    }

    @Override
    public Set<Pair<Type, Type>> getSupportedTypes() {
        return inner.orElseGet(DefaultTranslatorFactory::new).getSupportedTypes();
    }

    /**
     * Asks the inner factory, or returns true if there is none: the arguments, which may name one,
     * are unknown here.
     */
    @Override
    public boolean isSupported(Class<?> input, Class<?> output) {
        if (inner.isPresent() && !inner.get().isSupported(input, output)) {
            return false;
        }
        try {
            ModelPlanning.expectLoad(options);
        } catch (LinkageError e) {
            // The model will run as in DJL, with a warning.
            logger.debug("no load is expected", e);
        }
        return true;
    }

    /**
     * Plans {@code model} and returns the inner factory's translator.
     *
     * @throws IllegalArgumentException if an option is unknown or has an invalid value, or if
     *     arguments set an option that only the application may set
     * @throws TranslateException if the inner factory fails or the budget cannot be met; with
     *     {@code memplan.required} also if the model cannot be planned (the cause is a {@link
     *     NotPlannedException}). The model is then closed, because DJL drops it
     */
    @Override
    public <I, O> Translator<I, O> newInstance(
            Class<I> input, Class<O> output, Model model, Map<String, ?> arguments)
            throws TranslateException {
        Optional<ModelPlanning> planning = planning(model, arguments);
        TranslatorFactory factory =
                inner.orElseGet(
                        () ->
                                planning.map(ModelPlanning::namedFactory)
                                        .orElseGet(() -> namedFactory(arguments)));
        if (factory instanceof PlannedTranslatorFactory) {
            throw new IllegalArgumentException(getClass().getName() + " cannot wrap itself");
        }
        if (!factory.isSupported(input, output)) {
            throw new TranslateException(
                    factory.getClass().getName() + " translates no " + input + " to " + output);
        }
        boolean planned = planning.isPresent() && plan(planning.get(), model);
        try {
            return measured(
                    factory.newInstance(input, output, model, arguments),
                    model,
                    planning.map(ModelPlanning::maxPredictions).orElse(OptionalInt.empty()),
                    planning.map(ModelPlanning::batchTokens).orElse(OptionalInt.empty()));
        } catch (TranslateException | RuntimeException e) {
            if (planned) {
                model.close();
            }
            throw e;
        }
    }

    private Object writeReplace() throws NotSerializableException {
        Object inside = inner.map(PlannedTranslatorFactory::innermost).orElse(null);
        if (inside != null) {
            requireSerializable("what it wraps, ", inside);
        }
        for (Map.Entry<String, Object> option : options.entrySet()) {
            requireSerializable("the value of " + option.getKey() + ", ", option.getValue());
        }
        Progress shown = progress.orElse(null);
        if (shown != null) {
            requireSerializable("the progress, ", shown);
        }
        return new Form(inside, new HashMap<>(options), shown);
    }

    private static Object innermost(TranslatorFactory factory) {
        return factory instanceof GivenTranslator given ? given.translator() : factory;
    }

    private static void requireSerializable(String what, Object value)
            throws NotSerializableException {
        if (!(value instanceof Serializable)) {
            throw new NotSerializableException(
                    what + value.getClass().getName() + ": give it a serializable one");
        }
    }

    private void readObject(ObjectInputStream in) throws InvalidObjectException {
        throw new InvalidObjectException("it has another form");
    }

    /**
     * The serialized form.
     *
     * @param inner a factory, a translator, or null
     * @param progress display of the measurement, or null
     */
    private record Form(
            @Nullable Object inner, HashMap<String, Object> options, @Nullable Object progress)
            implements Serializable {

        private Object readResolve() throws InvalidObjectException {
            return new PlannedTranslatorFactory(
                    factory(),
                    Collections.unmodifiableMap(options),
                    Optional.ofNullable((Progress) progress));
        }

        private Optional<TranslatorFactory> factory() throws InvalidObjectException {
            if (inner == null) {
                return Optional.empty();
            }
            if (inner instanceof TranslatorFactory factory) {
                return Optional.of(factory);
            }
            if (inner instanceof Translator<?, ?> translator) {
                return Optional.of(new GivenTranslator(translator));
            }
            throw new InvalidObjectException(inner.getClass() + " translates nothing");
        }
    }

    /** Returns the limit of all models of this process together; empty for no limit. */
    OptionalLong sharedBudgetBytes() {
        String key = OptionKey.SHARED_BUDGET.key();
        String property =
                System.getProperty(
                        GivenOptions.PROPERTY_PREFIX + key, OptionKey.SHARED_BUDGET.defaultValue());
        return PlanOptions.sharedBudget(options.getOrDefault(key, property).toString());
    }

    /** Returns the options that were set on this factory. */
    Map<String, Object> options() {
        return options;
    }

    private static boolean plan(ModelPlanning planning, Model model) throws TranslateException {
        try {
            return planning.plan(model);
        } catch (TranslateException e) {
            model.close();
            throw e;
        }
    }

    /** Returns empty, with a warning, if required classes are missing. */
    private Optional<ModelPlanning> planning(Model model, Map<String, ?> arguments)
            throws TranslateException {
        try {
            return Optional.of(new ModelPlanning(options, arguments, progress));
        } catch (Error e) {
            Optional<NotPlannedException> refusal =
                    MissingClasses.leaveAsStock(model.getName(), options, arguments, e);
            if (refusal.isPresent()) {
                model.close();
                throw new TranslateException(refusal.get().getMessage(), refusal.get());
            }
            return Optional.empty();
        }
    }

    /** The same as {@link ModelPlanning#namedFactory}, using only DJL. */
    private static TranslatorFactory namedFactory(Map<String, ?> arguments) {
        return MissingClasses.named(TranslatorFactory.class, "memplan.translatorFactory", arguments)
                .orElseGet(DefaultTranslatorFactory::new);
    }

    private static <I, O> Translator<I, O> measured(
            Translator<I, O> translator,
            Model model,
            OptionalInt mostPredictions,
            OptionalInt batchTokens) {
        try {
            return ScopedTranslator.wrap(translator, model, mostPredictions, batchTokens);
        } catch (Error e) {
            // A warning about an unplanned model was already logged; a planned one runs without the
            // proxy.
            logger.debug("{}: no figures in metrics", model.getName(), e);
            return translator;
        }
    }

    /** A translator factory that always returns one given translator, for any types. */
    private record GivenTranslator(Translator<?, ?> translator) implements TranslatorFactory {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return Set.of();
        }

        @Override
        public boolean isSupported(Class<?> input, Class<?> output) {
            return true;
        }

        @Override
        @SuppressWarnings("unchecked") // the caller pairs the translator with its own types
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
            return (Translator<I, O>) translator;
        }
    }
}
