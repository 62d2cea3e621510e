package org.djlplan.integration.torch.liveness;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.translate.Translator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.Output;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.report.PlanReport;

/**
 * The outputs of several predictions with a block, and the model's report at the end.
 *
 * @param outputs of each prediction
 * @param report empty for stock
 * @param heldBytes the size of all arenas before the model is closed
 */
record BlockAnswers(List<List<Output>> outputs, Optional<PlanReport> report, long heldBytes) {

    /** Closes intermediates of users' blocks, too. */
    static final Map<String, ?> OP = Map.of("memplan.liveness", "op");

    /** Makes the inputs of a prediction. */
    interface Inputs extends Function<NDManager, NDList> {}

    /** Predicts as in DJL. */
    static BlockAnswers stock(Block block, List<Inputs> inputs) throws Exception {
        return of(block, Optional.empty(), inputs);
    }

    /** Predicts with djl-plan. */
    static BlockAnswers planned(Block block, Map<String, ?> options, List<Inputs> inputs)
            throws Exception {
        return of(block, Optional.of(options), inputs);
    }

    private static BlockAnswers of(
            Block block, Optional<Map<String, ?>> options, List<Inputs> inputs) throws Exception {
        try (Model model = Model.newInstance("block", "PyTorch")) {
            model.setBlock(block);
            Translator<NDList, NDList> translator =
                    options.isEmpty()
                            ? new BareTranslator()
                            : PlannedTranslatorFactory.wrap(new BareTranslator())
                                    .newInstance(NDList.class, NDList.class, model, options.get());
            List<List<Output>> outputs = new ArrayList<>();
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator)) {
                for (Inputs each : inputs) {
                    try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                        NDList given = each.apply(manager);
                        outputs.add(Output.copyOf(predictor.predict(given)));
                    }
                }
            }
            return new BlockAnswers(
                    outputs,
                    PlanReport.of(model),
                    PlannedModels.pools().arenas().bytes() + OutputArena.shared().bytes());
        }
    }

    /** Returns the most bytes that a prediction in an arena needed; 0 if it allocated nothing. */
    long peakBytes() {
        return report.orElseThrow().peak().map(PlanReport.Peak::predictionBytes).orElse(0L);
    }
}
