package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.serving.TfLiteModel;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans a model of the TFLite engine: opens the model's file again, and replaces the engine's block
 * by a planned one.
 */
final class TfLitePlanning {

    private static final Logger logger = LoggerFactory.getLogger(TfLitePlanning.class);
    private static final double MEGA = 1e6;

    private final PlanOptions options;
    private final Optional<DelegationProvider> provider;
    private final Optional<Progress> progress;

    /**
     * @param provider chooses the delegated operators; empty to delegate none
     * @param progress shows how far the measurement for delegation is
     */
    TfLitePlanning(
            PlanOptions options,
            Optional<DelegationProvider> provider,
            Optional<Progress> progress) {
        this.options = options;
        this.provider = provider;
        this.progress = progress;
    }

    /**
     * Plans a model.
     *
     * @return why the model was left unplanned; empty if it is planned
     * @throws UnusableOptionException if an option names something that the model does not have
     * @throws TranslateException if the model's budget cannot be met
     */
    Optional<String> plan(Model model) throws TranslateException {
        Block stock = model.getBlock();
        Optional<Path> file = TfLiteAdapter.fileOf(model);
        if (file.isEmpty()) {
            return Optional.of(
                    "it was not loaded from a file, or from one that its name does not lead to in "
                            + model.getModelPath());
        }
        TfLiteAdapter adapter;
        try {
            adapter = TfLiteAdapter.of(model);
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.of("the engine's block cannot be extended: " + e);
        }
        // Closed first, so that two interpreters of a model are never in memory.
        adapter.close(stock);
        try {
            install(model, file.get(), adapter, opened(file.get()));
            return Optional.empty();
        } catch (UnusableOptionException e) {
            // A user error, like any wrong value of an option.
            model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            throw e;
        } catch (BudgetTooSmallException
                | IOException
                | UnplannableException
                | RuntimeException e) {
            if (options.budget().limited() && !options.budget().bestEffort()) {
                throw new TranslateException(
                        model.getName() + ": " + UnplannableException.reason(e), e);
            }
            try {
                model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            } catch (RuntimeException again) {
                again.addSuppressed(e);
                throw again;
            }
            return Optional.of(UnplannableException.reason(e));
        } catch (Error e) {
            model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            throw e;
        }
    }

    private TfLiteModel opened(Path file)
            throws IOException, UnplannableException, BudgetTooSmallException {
        ModelDelegations delegations = new ModelDelegations(file, options, provider, progress);
        return options.budget().limited()
                ? BudgetedModel.open(
                        file, options, CacheFolder.get(), delegations, BudgetResolver::new)
                : ServedModel.open(
                        file, options, MemoryPlanner::plan, delegations.whole(Long.MAX_VALUE));
    }

    private void install(Model model, Path file, TfLiteAdapter adapter, TfLiteModel served) {
        try {
            for (TensorInfo output : served.outputs()) {
                adapter.dataType(output.type());
            }
            NDManager manager = model.getNDManager();
            TfLiteForward forward =
                    new TfLiteForward(
                            model.getName(), file, served, adapter, manager, options.requests());
            Block planned = forward.block(served::close);
            AutoCloseable attached = served;
            manager.attachInternal("djl-plan-" + System.identityHashCode(served), attached);
            model.setBlock(planned);
            ReportSources.register(planned, forward);
            log(model, served.report());
        } catch (RuntimeException | Error e) {
            served.close();
            throw e;
        }
    }

    private static void log(Model model, PlanReport report) {
        if (report.delegation().isPresent()) {
            DelegationReport delegated = report.delegation().get();
            logger.info(
                    "{}: {} of {} operators delegated to {} ({}): {}",
                    model.getName(),
                    delegated.delegatedOperators(),
                    delegated.operators(),
                    delegated.delegate(),
                    delegated.origin(),
                    delegated.reason());
        }
        if (report.budget().isPresent()) {
            logger.info("{}: {}", model.getName(), report.budget().get());
        }
        logger.info(
                "{}: {} tensors in an arena of {} MB ({}{}; {} MB without planning, lower bound {}"
                        + " MB), {} MB of inputs and outputs per interpreter",
                model.getName(),
                report.plan().records(),
                report.plan().arenaBytes() / MEGA,
                report.plan().strategy(),
                report.plan().provedMinimal() ? ", proved minimal" : "",
                report.plan().naiveBytes() / MEGA,
                report.plan().lowerBoundBytes() / MEGA,
                report.plan().inputOutputBytes() / MEGA);
    }
}
