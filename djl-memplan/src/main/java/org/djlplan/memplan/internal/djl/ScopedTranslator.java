package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.inference.streaming.StreamingTranslator;
import ai.djl.metric.Metrics;
import ai.djl.metric.Unit;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.report.PlanReport;

/**
 * Wraps a translator: opens a {@link PredictionScope} at the beginning of a predictor's call, and
 * adds the figures of a {@link PlanReport} to DJL's {@link Metrics} after every prediction. On
 * request it splits the inputs of one call by {@link TokenGroups}. It is a proxy, so that methods
 * added by newer versions of DJL reach the inner translator.
 */
public final class ScopedTranslator implements InvocationHandler {

    private final Translator<?, ?> inner;
    private final Model model;
    private final ModelInUse use;
    private final Optional<PredictionScope.Limit> limit;
    private final Optional<TokenGroups> groups;

    private ScopedTranslator(
            Translator<?, ?> inner,
            Model model,
            ModelInUse use,
            Optional<PredictionScope.Limit> limit,
            Optional<TokenGroups> groups) {
        this.inner = inner;
        this.model = model;
        this.use = use;
        this.limit = limit;
        this.groups = groups;
    }

    /**
     * Returns a translator that delegates to {@code inner} and also reports on {@code model}.
     *
     * @param most limit of predictions at once; empty for no limit
     * @param batchTokens limit of the tokens that run at once of one call's inputs; empty for all
     */
    @SuppressWarnings("unchecked") // a proxy of all interfaces of a Translator<I, O> is one
    public static <I, O> Translator<I, O> wrap(
            Translator<I, O> inner, Model model, OptionalInt most, OptionalInt batchTokens) {
        Optional<PredictionScope.Limit> limit =
                most.isPresent()
                        ? Optional.of(new PredictionScope.Limit(most.getAsInt()))
                        : Optional.empty();
        return (Translator<I, O>)
                Proxy.newProxyInstance(
                        inner.getClass().getClassLoader(),
                        PublicInterfaces.of(inner.getClass()),
                        new ScopedTranslator(
                                inner,
                                model,
                                new ModelInUse(model),
                                limit,
                                batchTokens.isPresent()
                                        ? Optional.of(new TokenGroups(batchTokens.getAsInt()))
                                        : Optional.empty()));
    }

    private static Optional<ScopedTranslator> of(Translator<?, ?> translator) {
        return Proxy.isProxyClass(translator.getClass())
                        && Proxy.getInvocationHandler(translator) instanceof ScopedTranslator scoped
                ? Optional.of(scoped)
                : Optional.empty();
    }

    /**
     * Returns the translator that was passed to {@link #wrap}, or any other translator unchanged.
     */
    @SuppressWarnings("unchecked") // it is wrapped as one of its own types
    public static <I, O> Translator<I, O> unwrap(Translator<I, O> translator) {
        return of(translator).map(scoped -> (Translator<I, O>) scoped.inner).orElse(translator);
    }

    /** Returns a translator, wrapped like another one if that is wrapped. */
    @SuppressWarnings("unchecked") // as above
    public static <I, O> Translator<I, O> wrapLike(
            Translator<?, ?> other, Translator<I, O> translator) {
        return of(other)
                .map(
                        scoped ->
                                (Translator<I, O>)
                                        Proxy.newProxyInstance(
                                                translator.getClass().getClassLoader(),
                                                PublicInterfaces.of(translator.getClass()),
                                                new ScopedTranslator(
                                                        translator,
                                                        scoped.model,
                                                        scoped.use,
                                                        scoped.limit,
                                                        Optional.empty())))
                .orElse(translator);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "processInput", "batchProcessInput":
                begin(arguments[0]);
                return runsInGroups(method, arguments)
                        // DJL does not run the model without inputs.
                        ? new NDList()
                        : accepted(arguments[0], call(method, arguments));
            case "processOutput", "batchProcessOutput":
                Object output = grouped(arguments[0]).orElse(null);
                if (output == null) {
                    output = call(method, arguments);
                }
                report(arguments[0]);
                return output;
            case "equals":
                return method.getDeclaringClass() == Object.class
                        ? wrapsSame(arguments[0])
                        : call(method, arguments);
            default:
                return call(method, arguments);
        }
    }

    @SuppressWarnings("unchecked") // the proxy was called with the types of the inner translator
    private boolean runsInGroups(Method method, Object[] arguments) throws Exception {
        return groups.isPresent()
                && method.getName().equals("batchProcessInput")
                && arguments[1] instanceof List<?> inputs
                && groups.get()
                        .predict(
                                (Translator<Object, Object>) inner,
                                (TranslatorContext) arguments[0],
                                inputs);
    }

    /** Returns the outputs of a call that ran in groups. */
    private Optional<Object> grouped(Object context) {
        return groups.isPresent() && context instanceof TranslatorContext call
                ? Optional.ofNullable(TokenGroups.outputs(call)).map(Arrays::asList)
                : Optional.empty();
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(inner, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Object accepted(Object context, Object input) {
        if (input instanceof NDList list && list.isEmpty()) {
            requireInputs((TranslatorContext) context, list);
        }
        return input;
    }

    /**
     * DJL answers an empty list with an empty list, without running the model. The block of a
     * TensorFlow Lite model reports which inputs it expects.
     */
    private static void requireInputs(TranslatorContext context, NDList list) {
        Block block = context.getModel().getBlock();
        if (isTfLite(context.getNDManager()) && !block.describeInput().isEmpty()) {
            NDList unused =
                    block.forward(new ParameterStore(context.getNDManager(), false), list, false);
        }
    }

    private static boolean isTfLite(NDManager manager) {
        return manager.getEngine().getEngineName().equals("TFLite");
    }

    /**
     * Opens a scope, except for TensorFlow Lite without a limit of predictions, because its passes
     * leave nothing behind when a call ends.
     */
    private void begin(Object callContext) {
        if (callContext instanceof TranslatorContext context) {
            NDManager manager = context.getNDManager();
            if (limit.isPresent() || !isTfLite(manager)) {
                boolean ends = endsWithItsCall();
                PredictionScope.open(
                        manager,
                        ends ? Optional.of(use) : Optional.empty(),
                        ends ? limit : Optional.empty());
            }
        }
    }

    /**
     * Wrapped translators are equal if their translators are, and they report on the same model.
     */
    private boolean wrapsSame(Object other) {
        return other != null
                && Proxy.isProxyClass(other.getClass())
                && Proxy.getInvocationHandler(other) instanceof ScopedTranslator measured
                && model.equals(measured.model)
                && inner.equals(measured.inner);
    }

    /** A call that streams its output ends when the output was read, or never. */
    private boolean endsWithItsCall() {
        return !(inner instanceof StreamingTranslator)
                || StackWalker.getInstance()
                        .walk(
                                frames ->
                                        frames.noneMatch(
                                                frame ->
                                                        frame.getMethodName()
                                                                .equals("streamingPredict")));
    }

    private void report(Object callContext) {
        Metrics metrics =
                callContext instanceof TranslatorContext context ? context.getMetrics() : null;
        if (metrics != null) {
            PlanReport.of(model).ifPresent(report -> add(report, metrics));
        }
    }

    private static void add(PlanReport report, Metrics metrics) {
        PlanReport.Plan plan = report.plan();
        metrics.addMetric("ArenaBytes", plan.arenaBytes(), Unit.BYTES);
        metrics.addMetric("InputOutputBytes", plan.inputOutputBytes(), Unit.BYTES);
        metrics.addMetric("UnplannedPredictions", report.predictions().unplanned(), Unit.COUNT);
    }
}
