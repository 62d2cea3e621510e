package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.djl.liveness.ArrayTypes;
import org.djlplan.memplan.internal.djl.liveness.Managers;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the first planned predictions with stock ones, byte by byte: as many as are needed to
 * record, to plan and to replay twice. If the outputs differ, the model runs as stock from then on.
 * Arrays that the engine cannot read are not compared.
 */
final class VerifiedForward implements InferencePass {

    private static final Logger logger = LoggerFactory.getLogger(VerifiedForward.class);
    private static final int PREDICTIONS = 4;
    private static final int MOST_TYPES = 64;
    private static final Object UNREADABLE = new Object();

    private final String model;
    private final InferencePass stock;
    private final InferencePass planned;
    private final Map<ImmutableList<ArrayType>, Integer> verified = RecentMap.ofMost(MOST_TYPES);
    private volatile boolean distrusted;

    /**
     * @param model name for the warning
     */
    VerifiedForward(String model, InferencePass stock, InferencePass planned) {
        this.model = model;
        this.stock = stock;
        this.planned = planned;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (distrusted) {
            return stock.forward(parameters, inputs, params);
        }
        ImmutableList<ArrayType> types = ArrayTypes.of(inputs);
        if (verified.getOrDefault(types, 0) >= PREDICTIONS) {
            return planned.forward(parameters, inputs, params);
        }
        NDList kept = new NDList(inputs);
        NDList stocks = stock.forward(parameters, new NDList(inputs), params);
        List<Object> expected;
        NDList outputs;
        try {
            expected = values(stocks);
            outputs = planned.forward(parameters, new NDList(inputs), params);
            kept.addAll(outputs);
        } finally {
            close(stocks, kept, inputs);
        }
        if (expected.equals(values(outputs))) {
            verified.merge(types, 1, Integer::sum);
            return outputs;
        }
        distrusted = true;
        logger.warn("{} runs as without djl-plan: a planned prediction gave other outputs", model);
        return stock.forward(parameters, inputs, params);
    }

    /**
     * Closes the arrays of a stock pass that belong to the call. An array that both passes return,
     * such as a parameter, does not belong to the stock pass.
     *
     * @param kept inputs, and outputs of the planned pass
     */
    private static void close(NDList stocks, NDList kept, NDList inputs) {
        if (inputs.isEmpty()) {
            return;
        }
        NDManager call = inputs.head().getManager();
        for (NDArray output : stocks) {
            if (kept.stream().noneMatch(array -> array == output)
                    && Managers.within(output.getManager(), call)) {
                output.close();
            }
        }
    }

    /** Returns copies of what the arrays contain. What cannot be read in both lists is equal. */
    private static List<Object> values(NDList arrays) {
        List<Object> copies = new ArrayList<>(arrays.size());
        for (NDArray array : arrays) {
            try {
                copies.add(
                        array.getDataType() == DataType.STRING
                                ? List.of(array.toStringArray())
                                : copy(array.toByteBuffer()));
            } catch (RuntimeException e) {
                // Engines do not read arrays of every type and shape.
                logger.debug("an output is not compared", e);
                copies.add(UNREADABLE);
            }
        }
        return copies;
    }

    private static ByteBuffer copy(ByteBuffer data) {
        return ByteBuffer.allocate(data.remaining()).put(data).flip();
    }
}
