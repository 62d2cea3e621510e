package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.Managers;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.internal.runtime.Buffers;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the first planned predictions with stock ones, byte by byte: as many as are needed to
 * record, to plan and to replay twice. If the outputs differ, the stock model predicts again. If it
 * repeats its outputs, the model runs as stock from then on. If it does not, because it draws
 * random numbers or counts its calls, the comparison says nothing: it ends, and the model stays
 * planned. Arrays that the engine cannot read are not compared.
 */
final class VerifiedForward implements InferencePass {

    private static final Logger logger = LoggerFactory.getLogger(VerifiedForward.class);
    private static final int PREDICTIONS = 4;
    private static final int MOST_TYPES = 64;
    private static final Object UNREADABLE = new Object();
    private static final String DIFFERENT = "a planned prediction gave other outputs";

    private final String model;
    private final InferencePass stock;
    private final InferencePass planned;
    private final Map<ImmutableList<ArrayType>, Integer> verified = RecentMap.ofMost(MOST_TYPES);
    private final Status status;
    private volatile boolean repeats = true;

    /** Whether the planned model is distrusted. Does not retain the model. */
    static final class Status {

        private volatile boolean distrusted;

        /** Returns a model's report, with the reason if the model runs as stock. */
        PlanReport applied(PlanReport report) {
            return distrusted ? Reports.stopped(report, DIFFERENT) : report;
        }
    }

    /**
     * @param model name for the warning
     * @param status set by the comparison
     */
    VerifiedForward(String model, InferencePass stock, InferencePass planned, Status status) {
        this.model = model;
        this.stock = stock;
        this.planned = planned;
        this.status = status;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (status.distrusted) {
            return stock.forward(parameters, inputs, params);
        }
        ImmutableList<ArrayType> types = ArrayTypes.of(inputs);
        if (!repeats || verified.getOrDefault(types, 0) >= PREDICTIONS) {
            return planned.forward(parameters, inputs, params);
        }
        NDList stocks = stock.forward(parameters, new NDList(inputs), params);
        NDList kept = new NDList();
        try {
            List<Object> expected = values(stocks);
            NDList outputs = planned.forward(parameters, new NDList(inputs), params);
            if (expected.equals(values(outputs))) {
                verified.merge(types, 1, Integer::sum);
                kept = outputs;
            } else {
                close(outputs, stocks, inputs);
                note(expected, parameters, inputs, stocks, params);
                kept = stocks;
            }
            return kept;
        } finally {
            close(stocks, kept, inputs);
        }
    }

    /** Runs stock again, after planned outputs differed: if it repeats itself, stock serves. */
    private void note(
            List<Object> expected,
            ParameterStore parameters,
            NDList inputs,
            NDList stocks,
            Optional<PairList<String, Object>> params) {
        NDList again = stock.forward(parameters, new NDList(inputs), params);
        boolean repeated = expected.equals(values(again));
        close(again, stocks, inputs);
        if (repeated) {
            status.distrusted = true;
            logger.warn("{} runs as without djl-plan: {}", model, DIFFERENT);
        } else {
            repeats = false;
            logger.info("{} is not verified: it does not repeat its outputs as stock", model);
        }
    }

    /**
     * Closes the arrays of a pass that belong to the call. An array that another pass returns too,
     * such as a parameter, does not belong to the pass.
     *
     * @param kept outputs of the other pass
     */
    private static void close(NDList outputs, NDList kept, NDList inputs) {
        if (inputs.isEmpty()) {
            return;
        }
        NDManager call = inputs.head().getManager();
        for (NDArray output : outputs) {
            if (kept.stream().noneMatch(array -> array == output)
                    && inputs.stream().noneMatch(array -> array == output)
                    && Managers.within(output.getManager(), call)) {
                output.close();
            }
        }
    }

    /** Returns copies of the arrays' values. Unreadable values equal each other. */
    private static List<Object> values(NDList arrays) {
        List<Object> copies = new ArrayList<>(arrays.size());
        for (NDArray array : arrays) {
            try {
                copies.add(
                        array.getDataType() == DataType.STRING
                                ? List.of(array.toStringArray())
                                : Buffers.copy(array.toByteBuffer()));
            } catch (RuntimeException e) {
                // Engines do not read arrays of every type and shape.
                logger.debug("an output is not compared", e);
                copies.add(UNREADABLE);
            }
        }
        return copies;
    }
}
