package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.util.PairList;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.config.WorkerCount;
import org.djlplan.memplan.planning.GraphPlanning;
import org.djlplan.memplan.planning.order.OrderedModel;
import org.djlplan.memplan.planning.order.Reordering;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans a model of the TFLite engine: the file that the engine loaded is opened anew, and a planned
 * block put in the place of the engine's.
 */
final class TfLitePlanning {

    private static final Logger logger = LoggerFactory.getLogger(TfLitePlanning.class);
    private static final double MEGA = 1e6;

    private final PlanOptions options;
    private final Optional<ModelDelegation> delegation;

    /**
     * @param delegation chooses what is delegated; empty for nothing
     */
    TfLitePlanning(PlanOptions options, Optional<ModelDelegation> delegation) {
        this.options = options;
        this.delegation = delegation;
    }

    /**
     * Plans a model.
     *
     * @return why it was left as it was; empty if it is planned
     * @throws UnusableOptionException if an option names what the model does not have
     */
    Optional<String> plan(Model model) {
        Block stock = model.getBlock();
        Optional<Path> file = TfLiteAdapter.fileOf(model);
        if (file.isEmpty()) {
            return Optional.of(
                    "it was not loaded from a file, or from one that its name does not lead to in "
                            + model.getModelPath());
        }
        TfLiteAdapter adapter;
        try {
            adapter = TfLiteAdapter.of(stock.getClass());
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.of("the engine's block cannot be extended: " + e);
        }
        // Closed first: never are two interpreters of a model in memory.
        adapter.close(stock);
        try {
            OrderedModel ordered = ordered(file.get(), options);
            ServedModel served =
                    ServedModel.open(
                            ordered,
                            options,
                            GraphPlanning.of(
                                    file.get(), options.planning(), ModelDelegation.cacheFolder()),
                            delegation.map(d -> d.of(ordered)));
            install(model, file.get(), adapter, served);
            delegation.ifPresent(d -> d.attach(served));
            return Optional.empty();
        } catch (UnusableOptionException e) {
            // A mistake of the user's, as a wrong value of any option is.
            delegation.ifPresent(ModelDelegation::close);
            model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            throw e;
        } catch (IOException | UnplannableException | RuntimeException e) {
            delegation.ifPresent(ModelDelegation::close);
            try {
                model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            } catch (RuntimeException again) {
                again.addSuppressed(e);
                throw again;
            }
            return Optional.of(UnplannableException.reason(e));
        } catch (Error e) {
            delegation.ifPresent(ModelDelegation::close);
            model.setBlock(adapter.stock(file.get(), model.getNDManager()));
            throw e;
        }
    }

    /** Returns a model in the order in which its options ask to run it. */
    static OrderedModel ordered(Path file, PlanOptions options) {
        return options.reorder()
                ? new Reordering(ModelDelegation.cacheFolder()).of(file, options)
                : OrderedModel.asInFile(file);
    }

    private void install(Model model, Path file, TfLiteAdapter adapter, ServedModel served) {
        try {
            PairList<String, Shape> inputs = new PairList<>();
            served.inputs().forEach(input -> inputs.add(input.name(), TfLiteForward.shape(input)));
            served.outputs().forEach(output -> TfLiteForward.dataType(output.type()));
            NDManager manager = model.getNDManager();
            TfLiteForward forward =
                    new TfLiteForward(model.getName(), file, served, workers(), adapter, manager);
            Block planned = adapter.planned(forward, () -> close(served), inputs);
            AutoCloseable attached = () -> close(served);
            manager.attachInternal("djl-plan-" + System.identityHashCode(served), attached);
            model.setBlock(planned);
            PlanReport.register(planned, forward::report);
            log(model, served.report());
        } catch (RuntimeException | Error e) {
            served.close();
            throw e;
        }
    }

    /** An inference for which there is no interpreter would wait for one anyway. */
    private Optional<Workers> workers() {
        WorkerCount wanted = options.workers();
        return wanted.isOff()
                ? Optional.empty()
                : Optional.of(
                        Workers.of(
                                wanted.atMost(options.maxInterpreters())
                                        .forThreads(options.threads())));
    }

    private void close(ServedModel served) {
        delegation.ifPresent(ModelDelegation::close);
        served.close();
    }

    private static void log(Model model, PlanReport report) {
        report.delegation()
                .ifPresent(
                        delegated ->
                                logger.info(
                                        "{}: {} of {} operators delegated to {} ({}): {}",
                                        model.getName(),
                                        delegated.delegatedOperators(),
                                        delegated.operators(),
                                        delegated.delegate(),
                                        delegated.origin(),
                                        delegated.reason()));
        report.order()
                .ifPresent(
                        order ->
                                logger.info(
                                        "{}: {} its operators: maximum breadth {} MB, {} MB as in"
                                                + " the file; arena {} MB, {} MB as in the file",
                                        model.getName(),
                                        order.adopted() ? "another order of" : "keeps the order of",
                                        order.breadthAfterBytes() / MEGA,
                                        order.breadthBeforeBytes() / MEGA,
                                        order.arenaAfterBytes() / MEGA,
                                        order.arenaBeforeBytes() / MEGA));
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
