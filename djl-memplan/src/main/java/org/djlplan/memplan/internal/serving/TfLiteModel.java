package org.djlplan.memplan.internal.serving;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A {@code .tflite} model in service. Thread-safe; may be closed twice and while predictions run,
 * which then end normally.
 */
public interface TfLiteModel extends AutoCloseable {

    /** Returns the inputs with the shapes in the file; with −1 where those are placeholders. */
    ImmutableList<TensorInfo> inputs();

    /** Returns the outputs for the shapes in the file. */
    ImmutableList<TensorInfo> outputs();

    /**
     * Predicts once.
     *
     * @param values one buffer per input, in native byte order; what remains of it is the value
     * @param shapes the shapes of the inputs. As in the stock engine they do not matter when every
     *     value has as many bytes as the file's shape asks for
     * @return one value per output, in memory of its own
     * @throws IllegalArgumentException if a value cannot be that of its input
     * @throws IllegalStateException if the model is closed, a file of it was changed in place, or
     *     the engine fails
     */
    List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes);

    /** Returns the report so far. */
    PlanReport report();

    /** Returns which weights are in memory when, as predicted; empty if all are all the time. */
    default Optional<ResidentWeights> residentWeights() {
        return Optional.empty();
    }

    /** Returns whether nothing is chosen, measured or verified for it any more. */
    default boolean isSettled() {
        return true;
    }

    /** Returns whether it has a budget, which can be changed. */
    default boolean hasBudget() {
        return false;
    }

    /**
     * Gives a model that has a budget another one, from the next prediction on. On any error all
     * stays as it was.
     *
     * @throws BudgetTooSmallException if it cannot run in it, and has to
     * @throws java.io.UncheckedIOException if a copy cannot be made
     * @throws IllegalStateException if the model is closed, or the engine cannot run it so
     */
    default void setBudget(Budget budget) throws BudgetTooSmallException {
        throw new IllegalStateException("loaded without a budget");
    }

    @Override
    void close();
}
