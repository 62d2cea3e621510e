package org.djlplan.memplan.internal.serving;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A {@code .tflite} model in service. Thread-safe. It may be closed twice, and while predictions
 * run; these predictions end normally.
 */
public interface TfLiteModel extends AutoCloseable {

    /** Returns the inputs with the shapes in the file; with −1 where those are placeholders. */
    ImmutableList<TensorInfo> inputs();

    /** Returns the outputs for the shapes in the file. */
    ImmutableList<TensorInfo> outputs();

    /**
     * Predicts once.
     *
     * @param values one buffer per input, in native byte order; its remaining bytes are the value
     * @param shapes the shapes of the inputs. As in the stock engine they do not matter if every
     *     value has as many bytes as the file's shape requires
     * @return one value per output, in separate memory
     * @throws IllegalArgumentException if a value cannot be that of its input
     * @throws IllegalStateException if the model is closed, one of its files was changed in place,
     *     or the engine fails
     */
    List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes);

    /** Returns the memory that predictions needed; empty with a budget, which limits it. */
    default Optional<NeededMemory> needed() {
        return Optional.empty();
    }

    /** Returns the report so far. */
    PlanReport report();

    /**
     * Returns which weights are predicted to be in memory at which time; empty if all always are.
     */
    default Optional<ResidentWeights> residentWeights() {
        return Optional.empty();
    }

    /** Returns whether it keeps values from one prediction to the next. */
    boolean keepsState();

    /** Returns whether choosing, measuring and verifying for it have ended. */
    default boolean isSettled() {
        return true;
    }

    /** Returns whether it has a budget, which can be changed. */
    default boolean hasBudget() {
        return false;
    }

    /**
     * Replaces the budget of a model that has one, from the next prediction on. On any error
     * nothing changes.
     *
     * @throws BudgetTooSmallException if the model exceeds it, and must not
     * @throws java.io.UncheckedIOException if a copy cannot be made
     * @throws IllegalStateException if the model is closed, or the engine cannot run it this way
     */
    default void setBudget(Budget budget) throws BudgetTooSmallException {
        throw new IllegalStateException("loaded without a budget");
    }

    @Override
    void close();
}
