package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.MapMaker;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.memplan.budget.ResidentWeights;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;

/** Detailed plans of loaded models, beyond their reports, for pictures. */
public final class PlansInUse {

    private static final Map<Block, Supplier<Optional<EvaluatedPlan>>> ALLOCATIONS =
            new MapMaker().weakKeys().makeMap();

    private static final Map<Block, Supplier<Optional<ResidentWeights>>> WEIGHTS =
            new MapMaker().weakKeys().makeMap();

    private PlansInUse() {}

    /** Registers {@code plan} for {@code block} as long as the block lives. */
    static void registerAllocations(Block block, Supplier<Optional<EvaluatedPlan>> plan) {
        ALLOCATIONS.put(block, plan);
    }

    /** Registers {@code weights} for {@code block} as long as the block lives. */
    static void registerWeights(Block block, Supplier<Optional<ResidentWeights>> weights) {
        WEIGHTS.put(block, weights);
    }

    /**
     * Returns the allocation plan in use of a PyTorch model (if there are several, the one with the
     * largest arena); empty if there is none yet, or for other engines.
     */
    public static Optional<EvaluatedPlan> allocations(Model model) {
        return Optional.ofNullable(ALLOCATIONS.get(model.getBlock())).flatMap(Supplier::get);
    }

    /**
     * Returns which weights of a model with a budget are in memory at which time; empty if all are
     * always in memory, or nothing is planned yet.
     */
    public static Optional<ResidentWeights> weights(Model model) {
        return Optional.ofNullable(WEIGHTS.get(model.getBlock())).flatMap(Supplier::get);
    }
}
