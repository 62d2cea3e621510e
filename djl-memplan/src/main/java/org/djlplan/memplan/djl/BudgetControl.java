package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.MapMaker;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.budget.BudgetTooSmallException;
import org.djlplan.memplan.config.Budget;

/** Changes the budget of a loaded model. Called by any thread. */
@FunctionalInterface
public interface BudgetControl {

    /**
     * Plans the model for a budget, which applies from the next prediction on. On any error the
     * budget is unchanged.
     * @throws BudgetTooSmallException if the model cannot run in it
     * @throws java.io.UncheckedIOException if files for the budget cannot be made
     * @throws IllegalStateException if the model is closed
     */
    void setBudget(Budget budget) throws BudgetTooSmallException;

    /** Registers {@code control} for {@code block} as long as the block lives. */
    static void register(Block block, BudgetControl control) {
        Registered.CONTROLS.put(block, control);
    }

    /** Returns the control of a model that runs in a budget, or empty for any other. */
    static Optional<BudgetControl> of(Model model) {
        return Optional.ofNullable(Registered.CONTROLS.get(model.getBlock()));
    }

    /** The controls of all loaded models. */
    final class Registered {

        private static final Map<Block, BudgetControl> CONTROLS =
                new MapMaker().weakKeys().makeMap();

        private Registered() {}
    }
}
