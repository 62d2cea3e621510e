package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.formula.Guess;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Plans the allocations of one model's predictions, and stores the plans and recordings for later
 * JVMs.
 */
public interface AllocationPlans {

    /**
     * A plan in use.
     *
     * @param trace the allocations of a prediction
     * @param plan offsets of the allocations that may be placed
     */
    record Placement(AllocationTrace trace, EvaluatedPlan plan) {

        public Placement {
            checkArgument(
                    plan.plan().problem().units().equals(trace.problem().units()),
                    "the plan is not one of these allocations");
        }
    }

    /**
     * Returns the data about predictions with inputs of these types and shapes, for a number of
     * threads.
     */
    OfInputs of(List<ArrayType> inputs, int threads);

    /** Returns the data about predictions with inputs of the same types and ranks, of any shape. */
    OfShapes ofShapes(List<ArrayType> inputs, int threads);

    /** Waits until everything is written, but not for long. */
    void flush();

    /** Predicts the allocations for an input shape from recordings of other shapes. Thread-safe. */
    interface OfShapes {

        /** Returns the predicted allocations for a shape, if all formulas agree. */
        Optional<Guess> guess(ImmutableLongArray shape);

        /** Returns whether a recording of this shape would improve the formulas. */
        boolean wants(ImmutableLongArray shape);

        /**
         * Returns a plan made in little time; empty if the machine has no memory for it, or it
         * would take long.
         */
        Optional<QuickPlan> plan(Guess guess);

        /** Adds the recorded allocations of a shape, and stores them. */
        void learn(ImmutableLongArray shape, AllocationTrace trace);
    }

    /** The plans of predictions whose inputs have the same types and shapes. */
    interface OfInputs {

        /** Returns when an imperative block's arrays are closed, if it is known. */
        Optional<LivenessTrace> liveness();

        /**
         * Sets when an imperative block's arrays are closed. Plans made before then no longer match
         * the block's allocations.
         *
         * @return whether it differs from before
         */
        boolean learn(LivenessTrace liveness);

        /** Returns the stored plan, if there is one. */
        Optional<Placement> kept();

        /** Plans allocations. */
        Placement plan(AllocationTrace trace);

        /** Sets the plan in use, which {@link #save} writes. */
        void use(Placement placement);

        /**
         * Marks this kind of predictions as recurring, so that its plan is worth storing.
         *
         * @return whether it was not marked before
         */
        boolean markRecurring();

        /** Stores the current data in the background. */
        void save();
    }
}
