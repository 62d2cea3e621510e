package org.djlplan.memplan.internal.djl;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.lang.StackWalker.Option;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.events.FlightRecord;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.thirdparty.guava.collect.MapMaker;

/**
 * Plans only the forward passes of predictors. Other callers of {@code Block.forward}, such as
 * trainers, may keep the pass's arrays. A recording of such a pass would be wrong for predictions,
 * whose arrays are closed when the call ends. So such a pass runs as stock.
 */
final class PredictorForward implements InferencePass {

    private final String model;
    private final InferencePass stock;
    private final InferencePass planned;
    private final TorchMemory memory;
    private final InputLimit limit;

    /**
     * @param model its name
     */
    PredictorForward(
            String model,
            InferencePass stock,
            InferencePass planned,
            TorchMemory memory,
            InputLimit limit) {
        this.model = model;
        this.stock = stock;
        this.planned = planned;
        this.memory = memory;
        this.limit = limit;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (PredictionScope.isOpen()
                || (parameters != null && PredictorStores.contain(parameters))) {
            BudgetedWeights.expectNone();
            limit.check(inputs);
            return FlightRecord.prediction(
                    model, "PyTorch", () -> planned.forward(parameters, inputs, params));
        }
        memory.countUnplanned();
        return TorchMemory.runUnplanned(() -> stock.forward(parameters, inputs, params));
    }

    /**
     * The parameter stores of predictors. Each predictor has its own store, which no other code
     * gets, so a known store identifies a predictor without inspecting the stack for each pass,
     * which would be slow. This class is loaded at the first pass that no {@link PredictionScope}
     * surrounds.
     */
    private static final class PredictorStores {

        private static final StackWalker STACK =
                StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE);

        private static final Set<ParameterStore> KNOWN =
                Collections.newSetFromMap(new MapMaker().weakKeys().makeMap());

        private PredictorStores() {}

        static boolean contain(ParameterStore parameters) {
            if (KNOWN.contains(parameters)) {
                return true;
            }
            boolean inside =
                    STACK.walk(
                            frames ->
                                    frames.anyMatch(
                                            frame ->
                                                    Predictor.class.isAssignableFrom(
                                                            frame.getDeclaringClass())));
            if (inside) {
                KNOWN.add(parameters);
            }
            return inside;
        }
    }
}
