package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.MapMaker;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;

/** The plans of the allocations of loaded PyTorch models, for those who want to see them. */
public final class PlacedAllocations {

    private static final Map<Block, Supplier<Optional<EvaluatedPlan>>> PLANS =
            new MapMaker().weakKeys().makeMap();

    private PlacedAllocations() {}

    /** Makes {@code plan} answer for {@code block} as long as the block lives. */
    static void register(Block block, Supplier<Optional<EvaluatedPlan>> plan) {
        PLANS.put(block, plan);
    }

    /**
     * Returns the plan in use of a model's predictions, of several that with the largest arena;
     * empty if there is none yet, or the model is of another engine.
     */
    public static Optional<EvaluatedPlan> of(Model model) {
        return Optional.ofNullable(PLANS.get(model.getBlock())).flatMap(Supplier::get);
    }
}
