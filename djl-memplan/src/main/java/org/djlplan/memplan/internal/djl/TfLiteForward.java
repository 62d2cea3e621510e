package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.RequestOptions;
import org.djlplan.memplan.internal.engine.TfLiteTypes;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.serving.TfLiteModel;
import org.djlplan.memplan.internal.serving.UnplannedModelException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The forward pass of a planned TFLite block, and the model's handle. Converts DJL's arrays for a
 * served model and back. If a class is missing, or the model cannot be planned, the engine's own
 * block runs instead.
 */
final class TfLiteForward implements UnaryOperator<NDList>, ModelHandle {

    private static final Logger logger = LoggerFactory.getLogger(TfLiteForward.class);
    private final String model;
    private final Path file;
    private final TfLiteModel served;
    private final TfLiteAdapter adapter;
    private final NDManager manager;
    private final InputLimit inputLimit;
    private final Inputs inputs;

    /**
     * The form of each output. Threads may overwrite each other's array; each array is correct and
     * immutable.
     */
    private final Form[] forms;

    private Optional<Block> stock = Optional.empty();
    private volatile boolean failed;
    private volatile String reason = "";

    /** The shapes of the inputs in the model's file. */
    private record Inputs(List<Shape> shapes, List<List<Integer>> dimensions) {}

    /** The type and shape that an output had in the last prediction. */
    private record Form(TensorInfo info, Shape shape, DataType type) {}

    TfLiteForward(
            String model,
            Path file,
            TfLiteModel served,
            TfLiteAdapter adapter,
            NDManager manager,
            RequestOptions limits) {
        this.model = model;
        this.file = file;
        this.served = served;
        this.adapter = adapter;
        this.manager = manager;
        inputLimit = new InputLimit(model, limits, served.needed());
        List<Shape> shapes = new ArrayList<>();
        List<List<Integer>> dimensions = new ArrayList<>();
        for (TensorInfo input : served.inputs()) {
            shapes.add(TfLiteTypes.shape(input));
            dimensions.add(input.shape());
        }
        inputs = new Inputs(shapes, dimensions);
        forms = new Form[served.outputs().size()];
    }

    @Override
    public NDList apply(NDList list) {
        inputLimit.check(list);
        return FlightRecord.prediction(model, "TFLite", () -> plannedOrStock(list));
    }

    private NDList plannedOrStock(NDList list) {
        if (!failed) {
            try {
                return forward(list);
            } catch (LinkageError e) {
                leaveToEngine(e.toString(), "a class is missing");
            } catch (UnplannedModelException e) {
                leaveToEngine(e.getMessage(), e.getMessage());
            } catch (IllegalStateException e) {
                // Another thread may have found this meanwhile and closed the interpreter.
                if (!failed) {
                    throw e;
                }
            }
        }
        return stockForward(list);
    }

    private NDList forward(NDList given) {
        NDList list = adapter.toModel(given);
        List<TensorInfo> wanted = served.inputs();
        InputShapes.requireCount(list.size(), wanted);
        List<ByteBuffer> values = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            NDArray array = list.get(i);
            TfLiteTypes.requireType(wanted.get(i), array);
            values.add(array.toByteBuffer());
        }
        List<OutputTensor> outputs = served.run(values, shapes(list));
        NDList results = new NDList(outputs.size());
        for (int i = 0; i < outputs.size(); i++) {
            OutputTensor output = outputs.get(i);
            Form form = form(i, output.info());
            results.add(
                    adapter.array(
                            manager, output.data(), form.shape(), form.type(), form.info().name()));
        }
        results.attach(list.head().getManager());
        return adapter.fromModel(results);
    }

    /**
     * Returns the shapes of the inputs; the file's shapes, which are the usual case, are reused.
     */
    private List<List<Integer>> shapes(NDList list) {
        Inputs known = inputs;
        boolean same = list.size() == known.shapes().size();
        for (int i = 0; same && i < list.size(); i++) {
            same = list.get(i).getShape().equals(known.shapes().get(i));
        }
        return same ? known.dimensions() : list.stream().map(TfLiteForward::dimensions).toList();
    }

    private static List<Integer> dimensions(NDArray array) {
        return Longs.asList(array.getShape().getShape()).stream().map(Ints::checkedCast).toList();
    }

    private Form form(int output, TensorInfo info) {
        Form form = forms[output];
        if (form == null || !form.info.equals(info)) {
            form = new Form(info, TfLiteTypes.shape(info), adapter.dataType(info.type()));
            forms[output] = form;
        }
        return form;
    }

    @Override
    public PlanReport get() {
        PlanReport report = served.report();
        return failed ? Reports.stopped(report, reason) : report;
    }

    @Override
    public Optional<InputLimit> inputLimit() {
        return Optional.of(inputLimit);
    }

    @Override
    public boolean isReady() {
        return served.isSettled();
    }

    @Override
    public boolean keepsState() {
        return served.keepsState();
    }

    @Override
    public Optional<Block> view() {
        Block view = block(() -> {});
        ReportSources.register(view, this);
        return Optional.of(view);
    }

    /**
     * Returns a block that predicts with this.
     *
     * @param close what closing the block does
     */
    Block block(Runnable close) {
        return adapter.planned(
                this,
                close,
                TfLiteTypes.description(served.inputs()),
                TfLiteTypes.description(served.outputs()));
    }

    @Override
    public Optional<ResidentWeights> residentWeights() {
        return served.residentWeights();
    }

    @Override
    public boolean hasBudget() {
        return !failed && served.hasBudget();
    }

    @Override
    public void setBudget(Budget budget) throws BudgetTooSmallException {
        served.setBudget(budget);
    }

    private synchronized void leaveToEngine(String problem, String why) {
        if (!failed) {
            reason = why;
            failed = true;
            logger.warn("{} runs as without djl-plan: {}", model, problem);
            served.close();
        }
    }

    /** One at a time, because the engine's block is not thread-safe. */
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
