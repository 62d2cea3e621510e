package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.TranslatorFactory;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.tflite.WarmUp;
import org.djlplan.memplan.spi.DelegationProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plans one loaded model as its options say. */
public final class ModelPlanning {

    private static final Logger logger = LoggerFactory.getLogger(ModelPlanning.class);

    private final PlanOptions options;
    private final List<DelegationProvider> providers;

    /**
     * @param arguments DJL's arguments of the model
     * @throws IllegalArgumentException if an option is unknown or has a value of the wrong kind
     */
    public ModelPlanning(Map<String, ?> arguments) {
        providers =
                ImmutableList.copyOf(
                        ServiceLoader.load(
                                DelegationProvider.class, ModelPlanning.class.getClassLoader()));
        Set<String> delegationKeys =
                providers.stream()
                        .flatMap(provider -> provider.optionKeys().stream())
                        .collect(ImmutableSet.toImmutableSet());
        options = PlanOptions.parse(arguments, delegationKeys);
        Strategies.named(options.strategy());
        if (providers.isEmpty() && !options.delegation().isEmpty()) {
            logger.info(
                    "{} without effect: djl-delegation is not on the class path",
                    options.delegation().keySet());
        }
    }

    /** Gets ready in the background, while DJL still loads its engine. */
    public static void warmUp() {
        WarmUp.start();
    }

    /** Returns the factory that the options name, or DJL's default. */
    public TranslatorFactory namedFactory() {
        return options.translatorFactory()
                .map(ModelPlanning::newFactory)
                .orElseGet(DefaultTranslatorFactory::new);
    }

    private static TranslatorFactory newFactory(String className) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? ModelPlanning.class.getClassLoader() : context;
        try {
            return Class.forName(className, true, loader)
                    .asSubclass(TranslatorFactory.class)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new IllegalArgumentException(
                    "memplan.translatorFactory=" + className + ": not a translator factory", e);
        }
    }

    /**
     * Makes the model run in planned memory, or leaves it as it is and says why.
     *
     * @return whether the model was planned now
     */
    public boolean plan(Model model) {
        if (!options.enabled() || PlanReport.of(model).isPresent()) {
            return false;
        }
        String engine = model.getNDManager().getEngine().getEngineName();
        Optional<String> problem =
                engine.equals("TFLite")
                        ? new TfLitePlanning(options, providers).plan(model)
                        : Optional.of("the engine " + engine + " is not planned by this version");
        problem.ifPresent(why -> leave(model, engine, why));
        return problem.isEmpty();
    }

    private static void leave(Model model, String engine, String why) {
        logger.warn("{} runs as without djl-plan: {}", model.getName(), why);
        PlanReport report = PlanReport.unplanned(engine, why);
        PlanReport.register(model.getBlock(), () -> report);
    }
}
