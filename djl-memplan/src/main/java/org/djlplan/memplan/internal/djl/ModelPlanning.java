package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;
import ai.djl.nn.SymbolBlock;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.internal.runtime.FileMappings;
import org.djlplan.memplan.internal.runtime.SupportedPlatforms;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plans one loaded model according to its options. */
public final class ModelPlanning {

    private static final Logger logger = LoggerFactory.getLogger(ModelPlanning.class);

    private static final String DISABLED = OptionKey.ENABLED.key() + "=false";

    private final PlanOptions options;
    private final Optional<DelegationProvider> provider;
    private final Optional<Progress> progress;

    /**
     * @param given options set by the application's code
     * @param arguments DJL's arguments of the model
     * @param progress display of the measurement for delegation
     * @throws IllegalArgumentException if an option is unknown or has an invalid value, or if
     *     arguments set an option that only the application may set
     */
    public ModelPlanning(
            Map<String, ?> given, Map<String, ?> arguments, Optional<Progress> progress) {
        List<DelegationProvider> providers =
                DelegationProviders.of(ModelPlanning.class.getClassLoader());
        provider = providers.stream().findFirst();
        GivenOptions effective =
                GivenOptions.of(
                        given,
                        systemProperties(),
                        arguments,
                        providers.stream().flatMap(p -> p.options().stream()).toList());
        PlanOptions parsed = PlanOptions.parse(effective);
        options = provider.isPresent() ? parsed.awaitingDelegation() : parsed;
        this.progress = progress;
        boolean isSet = !options.delegation().isEmpty();
        if (isSet && options.delegationEnabled() && provider.isPresent()) {
            DelegateFactory unused = Delegates.named(options.delegate());
            provider.get().check(options.delegation());
        }
        if (isSet && provider.isEmpty()) {
            logger.info(
                    "{} without effect: djl-delegation is not on the class path",
                    options.delegation().keySet());
        }
    }

    /** Returns the properties that are strings; applications may store other values there, too. */
    private static Map<String, String> systemProperties() {
        Properties properties = System.getProperties();
        Map<String, String> strings = new HashMap<>();
        for (String key : properties.stringPropertyNames()) {
            strings.put(key, properties.getProperty(key));
        }
        return strings;
    }

    /**
     * Checks that a key has a djl-plan prefix.
     *
     * @throws IllegalArgumentException if it has not
     */
    public static void checkKey(String key) {
        if (!GivenOptions.isPlanOption(key)) {
            throw new IllegalArgumentException(
                    key
                            + " is not an option of djl-plan; its options start with "
                            + OptionKey.PREFIX
                            + " or "
                            + PlanOptions.DELEGATION_PREFIX);
        }
    }

    /** Warns, once in a process, if djl-plan has no native library for this platform. */
    public static void checkPlatform() {
        SupportedPlatforms.warnIfUnsupported();
    }

    /**
     * Announces that this thread is about to load a model.
     *
     * @param given options set by the application's code
     */
    public static void expectLoad(Map<String, ?> given) {
        SharedLoads.expect();
        BudgetedWeights.expect(given);
        ExpectedSession.expect(given);
    }

    /** Returns the limit of predictions at once; empty for no limit. */
    public OptionalInt maxPredictions() {
        return options.requests().maxPredictions();
    }

    /** Returns the limit of the tokens that run at once of one call's inputs; empty for all. */
    public OptionalInt batchTokens() {
        return options.requests().batchTokens();
    }

    /** Returns the factory that the options name, or DJL's default. */
    public TranslatorFactory namedFactory() {
        return options.load()
                .translatorFactory()
                .map(
                        name ->
                                newInstance(
                                        OptionKey.TRANSLATOR_FACTORY,
                                        name,
                                        TranslatorFactory.class))
                .orElseGet(DefaultTranslatorFactory::new);
    }

    /**
     * Uses only the application's class path, unlike DJL, which searches for some classes in a
     * model's folder, too.
     */
    private static <T> T newInstance(OptionKey key, String className, Class<T> type) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? ModelPlanning.class.getClassLoader() : context;
        try {
            return Class.forName(className, true, loader)
                    .asSubclass(type)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new IllegalArgumentException(
                    key.key() + "=" + className + ": not a " + type.getSimpleName(), e);
        }
    }

    /**
     * Returns a planned block for a model that is being loaded: from the block factory that the
     * options name, or from the model's TorchScript file.
     *
     * @throws IOException if the file cannot be loaded, or if the model must be planned but cannot
     */
    public Block newBlock(Model model, Path modelPath, Map<String, ?> arguments)
            throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            return plannedBlock(model, modelPath, arguments);
        } catch (NotPlannedException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            restore(interrupted);
        }
    }

    private Block plannedBlock(Model model, Path modelPath, Map<String, ?> arguments)
            throws IOException, NotPlannedException {
        Optional<BlockFactory> factory =
                options.load()
                        .blockFactory()
                        .map(
                                name ->
                                        newInstance(
                                                OptionKey.BLOCK_FACTORY, name, BlockFactory.class));
        String engine = model.getNDManager().getEngine().getEngineName();
        Optional<Path> budgeted = budgeted(model, modelPath, engine, factory.isPresent());
        if (budgeted.isPresent()) {
            return new PyTorchPlanning(options, provider, progress).load(model, budgeted.get());
        }
        Block block = StockBlock.of(model, modelPath, arguments, factory);
        if (!options.enabled()) {
            require(model, Optional.of(DISABLED));
            return block;
        }
        String problem;
        try {
            Optional<String> found =
                    engine.equals("PyTorch")
                            ? PyTorchPlanning.problem(model)
                            : Optional.of("a block of the engine " + engine + " is not planned");
            if (found.isEmpty()) {
                PyTorchPlanning planning = new PyTorchPlanning(options, provider, progress);
                Block planned = planning.wrap(model, block, Optional.empty());
                planning.startRewriting();
                return planned;
            }
            problem = found.get();
        } catch (Error e) {
            // As in plan().
            problem = e.toString();
        }
        require(model, Optional.of(problem));
        warn(model, engine, problem, block);
        return block;
    }

    /** Returns the TorchScript file of a model with a budget. */
    private Optional<Path> budgeted(
            Model model, Path modelPath, String engine, boolean hasFactory) {
        return options.enabled()
                        && options.budget().limited()
                        && engine.equals("PyTorch")
                        && !hasFactory
                        && PyTorchPlanning.problem(model).isEmpty()
                ? PyTorchModelKey.file(modelPath, model.getName())
                : Optional.empty();
    }

    /**
     * Makes the model run in planned memory, or leaves it unchanged and logs why.
     *
     * @return whether the model is planned now
     * @throws TranslateException if the model's budget cannot be met, or if the model must be
     *     planned but cannot be
     */
    public boolean plan(Model model) throws TranslateException {
        boolean interrupted = Thread.interrupted();
        try {
            return planned(model);
        } catch (NotPlannedException e) {
            throw new TranslateException(e.getMessage(), e);
        } finally {
            restore(interrupted);
        }
    }

    /** Restores the interrupt status, which would close the channels of files that are read. */
    private static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean planned(Model model) throws TranslateException, NotPlannedException {
        Optional<WeightFile> early = BudgetedWeights.arrived();
        Optional<FileMappings> expected = ExpectedSession.mappingsBefore(model);
        if (!options.enabled() || PlanReport.of(model).isPresent()) {
            early.ifPresent(WeightFile::close);
            if (expected.isPresent()) {
                OrtPlanning.makeStock(model);
            }
            require(
                    model,
                    options.enabled()
                            ? PlanReport.of(model).flatMap(PlanReport::unplannedReason)
                            : Optional.of(DISABLED));
            return false;
        }
        if (options.budget().sharedBytes().isPresent() && !options.budget().limited()) {
            logger.warn(
                    "{} is outside of {}, which is of models that PlannedModels.acquire loads",
                    model.getName(),
                    OptionKey.SHARED_BUDGET.key());
        }
        boolean[] alone = new boolean[1];
        boolean planned =
                SharedLoads.plan(
                        model,
                        options,
                        () -> {
                            alone[0] = true;
                            return planned(model, early, expected);
                        });
        if (!alone[0]) {
            early.ifPresent(WeightFile::close);
        }
        return planned;
    }

    private boolean planned(
            Model model, Optional<WeightFile> early, Optional<FileMappings> expected)
            throws TranslateException, NotPlannedException {
        String engine = model.getNDManager().getEngine().getEngineName();
        if (!engine.equals("PyTorch")) {
            // A PyTorch model was expected.
            early.ifPresent(WeightFile::close);
        }
        if (options.permitsLowerPrecision()
                && (!(engine.equals("PyTorch") && model.getBlock() instanceof SymbolBlock)
                        || options.budget().limited())) {
            logger.warn(
                    "{} has no effect on {}, which is not a TorchScript model without a budget",
                    PlanOptions.PRECISION,
                    model.getName());
        }
        Optional<String> problem;
        try {
            problem =
                    switch (engine) {
                        case "TFLite" -> {
                            PlanOptions asked = options.forThreads(TfLiteAdapter.threadsOf(model));
                            yield new TfLitePlanning(asked, provider, progress).plan(model);
                        }
                        case "PyTorch" ->
                                new PyTorchPlanning(options, provider, progress).plan(model, early);
                        case "OnnxRuntime" -> new OrtPlanning(options).plan(model, expected);
                        default ->
                                Optional.of(
                                        "the engine " + engine + " is not planned by this version");
                    };
        } catch (Error e) {
            // Missing classes, as in a native image, or a lack of memory.
            problem = Optional.of(e.toString());
        }
        if (options.required()) {
            // Only if required, because making a report loads many classes.
            require(model, problem.or(() -> unverified(model)));
        }
        problem.ifPresent(why -> warn(model, engine, why, model.getBlock()));
        return problem.isEmpty();
    }

    /**
     * Checks that a model is as its options require.
     *
     * @param problem what it lacks; empty for nothing
     * @throws NotPlannedException if it lacks something that it must have
     */
    private void require(Model model, Optional<String> problem) throws NotPlannedException {
        if (options.required() && problem.isPresent()) {
            throw new NotPlannedException(model.getName(), problem.get());
        }
    }

    /**
     * Returns why the choice of delegated operators is not verified; empty if it is, or if
     * delegation is off.
     */
    private static Optional<String> unverified(Model model) {
        return PlanReport.of(model)
                .filter(report -> report.engine().equals("TFLite"))
                .flatMap(PlanReport::delegation)
                .filter(choice -> choice.origin() == DelegationReport.Origin.UNVERIFIED)
                .map(choice -> "no delegation was verified: " + choice.reason());
    }

    private static void warn(Model model, String engine, String why, Block block) {
        logger.warn("{} runs as without djl-plan: {}", model.getName(), why);
        PlanReport report = Reports.unplanned(engine, why);
        ModelHandle handle = () -> report;
        ReportSources.register(block, handle);
    }
}
