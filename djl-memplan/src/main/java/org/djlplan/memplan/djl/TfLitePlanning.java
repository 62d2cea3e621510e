package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import com.google.common.primitives.Ints;
import com.google.common.primitives.Longs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.config.WorkerCount;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.machine.Machine;
import org.djlplan.memplan.planning.GraphPlanning;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.tflite.OrderedModel;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.runtime.tflite.Reordering;
import org.djlplan.memplan.runtime.tflite.RuntimeOptions;
import org.djlplan.memplan.runtime.tflite.TensorInfo;
import org.djlplan.memplan.runtime.tflite.TfLiteRuntime;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts a planned block in the place of the stock TFLite engine's. */
final class TfLitePlanning {

    private static final Logger logger = LoggerFactory.getLogger(TfLitePlanning.class);
    private static final Duration IDLE_AFTER = Duration.ofSeconds(30);
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
        Optional<Path> file = TfLiteModelFile.of(model);
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
            RuntimeOptions runtimeOptions = runtimeOptions(options);
            OrderedModel ordered = ordered(file.get(), options, runtimeOptions);
            TfLiteRuntime runtime =
                    TfLiteRuntime.open(
                            ordered,
                            runtimeOptions,
                            delegation.map(d -> d.of(ordered, runtimeOptions)),
                            GraphPlanning.of(
                                    file.get(), options.planning(), ModelDelegation.cacheFolder()));
            install(model, file.get(), adapter, runtime);
            delegation.ifPresent(d -> d.attach(runtime));
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

    static OrderedModel ordered(Path file, PlanOptions options, RuntimeOptions runtimeOptions) {
        return options.reorder()
                ? new Reordering(ModelDelegation.cacheFolder()).of(file, runtimeOptions)
                : OrderedModel.asInFile(file);
    }

    static RuntimeOptions runtimeOptions(PlanOptions options) {
        return new RuntimeOptions(
                options.planning().strategy(),
                options.planning().inPlace(),
                options.threads(),
                options.maxInterpreters(),
                options.arenas().shared(),
                options.arenas().most().orElse(Machine.cores()),
                options.arenas().longestWait(),
                IDLE_AFTER);
    }

    private void install(Model model, Path file, TfLiteAdapter adapter, TfLiteRuntime runtime)
            throws UnplannableException {
        try {
            PairList<String, Shape> inputs = new PairList<>();
            runtime.inputs().forEach(input -> inputs.add(input.name(), shape(input)));
            runtime.outputs().forEach(output -> dataType(output.type()));
            NDManager manager = model.getNDManager();
            Forward forward =
                    new Forward(model.getName(), file, runtime, workers(), adapter, manager);
            Block planned = adapter.planned(forward, () -> close(runtime), inputs);
            AutoCloseable attached = () -> close(runtime);
            manager.attachInternal("djl-plan-" + System.identityHashCode(runtime), attached);
            model.setBlock(planned);
            PlanReport.register(planned, forward::report);
            log(model, runtime.report());
        } catch (RuntimeException | Error e) {
            runtime.close();
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

    private void close(TfLiteRuntime runtime) {
        delegation.ifPresent(ModelDelegation::close);
        runtime.close();
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

    /** Predicts planned or, once a class turned out to be missing, in a block of the engine's. */
    private static final class Forward implements UnaryOperator<NDList> {

        private final String model;
        private final Path file;
        private final TfLiteRuntime runtime;
        private final Optional<Workers> workers;
        private final TfLiteAdapter adapter;
        private final NDManager manager;
        private final Inputs inputs;

        /** By output. Threads may overwrite each other's: each is right, and never changes. */
        private final Form[] forms;

        private Optional<Block> stock = Optional.empty();
        private volatile boolean failed;

        /** The shapes in the file. */
        private record Inputs(List<Shape> shapes, List<List<Integer>> dimensions) {}

        /** What the last array of an output was like. */
        private record Form(TensorInfo info, Shape shape, DataType type) {

            /** Not the record's own comparison: what that links at its first use takes long. */
            private boolean isOf(TensorInfo other) {
                return info.type() == other.type() && info.shape().equals(other.shape());
            }
        }

        Forward(
                String model,
                Path file,
                TfLiteRuntime runtime,
                Optional<Workers> workers,
                TfLiteAdapter adapter,
                NDManager manager) {
            this.model = model;
            this.file = file;
            this.runtime = runtime;
            this.workers = workers;
            this.adapter = adapter;
            this.manager = manager;
            inputs =
                    new Inputs(
                            runtime.inputs().stream().map(TfLitePlanning::shape).toList(),
                            runtime.inputs().stream().map(TensorInfo::shape).toList());
            forms = new Form[runtime.outputs().size()];
        }

        @Override
        public NDList apply(NDList list) {
            if (!failed) {
                try {
                    return forward(list);
                } catch (LinkageError e) {
                    leaveToEngine(e);
                } catch (IllegalStateException e) {
                    // Perhaps another thread found it meanwhile and closed what we used.
                    if (!failed) {
                        throw e;
                    }
                }
            }
            return stockForward(list);
        }

        private NDList forward(NDList list) {
            List<ByteBuffer> values = new ArrayList<>(list.size());
            for (NDArray array : list) {
                values.add(array.toByteBuffer());
            }
            List<OutputTensor> outputs = run(values, shapes(list));
            NDList results = new NDList(outputs.size());
            for (int i = 0; i < outputs.size(); i++) {
                OutputTensor output = outputs.get(i);
                Form form = form(i, output.info());
                results.add(adapter.array(manager, output.data(), form.shape(), form.type()));
            }
            results.attach(list.head().getManager());
            return results;
        }

        /** Nearly always those of the file, which need not be made anew. */
        private List<List<Integer>> shapes(NDList list) {
            Inputs known = inputs;
            boolean same = list.size() == known.shapes().size();
            for (int i = 0; same && i < list.size(); i++) {
                same = list.get(i).getShape().equals(known.shapes().get(i));
            }
            return same ? known.dimensions() : list.stream().map(Forward::dimensions).toList();
        }

        private static List<Integer> dimensions(NDArray array) {
            return Longs.asList(array.getShape().getShape()).stream()
                    .map(Ints::checkedCast)
                    .toList();
        }

        private Form form(int output, TensorInfo info) {
            Form form = forms[output];
            if (form == null || !form.isOf(info)) {
                form = new Form(info, TfLitePlanning.shape(info), dataType(info.type()));
                forms[output] = form;
            }
            return form;
        }

        private List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
            return workers.isPresent()
                    ? workers.get().run(runtime, () -> runtime.run(values, shapes))
                    : runtime.run(values, shapes);
        }

        PlanReport report() {
            PlanReport report = runtime.report();
            return failed ? report.stopped("a class is missing") : report;
        }

        private synchronized void leaveToEngine(LinkageError problem) {
            if (!failed) {
                failed = true;
                logger.warn("{} runs as without djl-plan: {}", model, problem.toString());
                runtime.close();
            }
        }

        /** One at a time: the engine's block is not made for several threads. */
        private synchronized NDList stockForward(NDList list) {
            if (stock.isEmpty()) {
                Block made = adapter.stock(file, manager);
                manager.attachInternal(
                        "djl-plan-" + System.identityHashCode(made), (AutoCloseable) made);
                stock = Optional.of(made);
            }
            return stock.get().forward(new ParameterStore(manager, false), list, false);
        }
    }

    private static Shape shape(TensorInfo info) {
        return new Shape(info.shape().stream().mapToLong(Integer::longValue).toArray());
    }

    private static DataType dataType(ElementType type) {
        switch (type) {
            case FLOAT32:
                return DataType.FLOAT32;
            case INT32:
                return DataType.INT32;
            case INT64:
                return DataType.INT64;
            case UINT8:
                return DataType.UINT8;
            case INT8:
                return DataType.INT8;
            case BOOL:
                return DataType.BOOLEAN;
            default:
                throw new IllegalStateException("the stock engine has no tensors of type " + type);
        }
    }
}
