package org.djlplan.memplan.runtime.tflite;

import java.util.List;
import org.djlplan.memplan.runtime.Arena;

/**
 * An interpreter of the engine whose tensors lie where we say. For one thread at a time.
 *
 * <p>All that planning, pools and interpreters need of the engine: what stands in for it does so
 * here.
 */
interface EngineSession extends AutoCloseable {

    /** Makes the sessions of one model. */
    @FunctionalInterface
    interface Source {

        /**
         * Builds an interpreter.
         *
         * @throws UnplannableException if the engine or the delegate says no
         */
        EngineSession open(SessionSpec spec) throws UnplannableException;
    }

    /** Gives an input another shape; {@link #allocate} must follow. */
    void resize(int input, List<Integer> shape);

    /** Lets the kernels say what memory they need. */
    void allocate();

    /**
     * Takes the plan.
     *
     * @return whether it fits what the engine needs
     */
    boolean place(int[] ids, long[] offsets, long arenaBytes);

    /** Runs once without planned tensors. */
    void invokeStock();

    /**
     * Runs once in an arena.
     *
     * @return whether the plan still fitted; if not, nothing ran
     */
    boolean invoke(Arena arena);

    /** Returns the engine's last words. */
    String error();

    /** Returns the ids of the inputs. */
    List<Integer> inputs();

    /** Returns the ids of the outputs. */
    List<Integer> outputs();

    /** Returns the nodes in execution order. */
    List<LiveNode> nodes();

    /** Returns the nanoseconds of each node in the last inference; none unless they are taken. */
    long[] times();

    /** Returns the tensors by id. */
    List<LiveTensor> tensors();

    /** Frees it. Does nothing the second time. */
    @Override
    void close();
}
