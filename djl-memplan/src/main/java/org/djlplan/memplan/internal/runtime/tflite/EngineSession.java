package org.djlplan.memplan.internal.runtime.tflite;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An interpreter of the engine whose tensors lie where djl-plan places them. Not thread-safe.
 *
 * <p>This is all that interpreters and pools need from the engine; another version of its library,
 * or a test, can implement it.
 */
public interface EngineSession extends AutoCloseable {

    @FunctionalInterface
    interface Source {

        /**
         * Builds a session.
         *
         * @throws UnplannableException if the engine or the delegate refuses
         */
        EngineSession open(Spec spec) throws UnplannableException;

        /**
         * Returns whether plans have places for the model's outputs, too. If not, outputs are in
         * the engine's own memory, as inputs always are.
         */
        default boolean placesOutputs() {
            return false;
        }
    }

    /**
     * The properties of a session that are fixed when it is built.
     *
     * @param threads number of threads, −1 for the engine's default
     * @param planned tensors that the caller places, besides temporaries; empty for a session with
     *     its own memory
     * @param delegated the operators to delegate, and their delegate
     * @param timed whether each node's time is measured
     */
    record Spec(
            int threads,
            Optional<List<Integer>> planned,
            Optional<Delegated> delegated,
            boolean timed) {

        public Spec {
            planned = planned.map(ImmutableList::copyOf);
        }

        /** Returns a session as the engine makes it. */
        static Spec stock(int threads) {
            return new Spec(threads, Optional.empty(), Optional.empty(), false);
        }
    }

    /**
     * Operators for a delegate.
     *
     * @param delegate the delegate, which is not closed with the session
     * @param operators the operators' indices in the file
     * @param shapes the inputs' shapes when the delegate takes the operators; empty for the shapes
     *     in the file. XNNPACK plans at least the memory for these shapes, even if the inputs later
     *     get smaller ones.
     */
    record Delegated(
            NativeDelegate delegate, SortedSet<Integer> operators, List<List<Integer>> shapes) {

        public Delegated {
            operators =
                    Collections.unmodifiableSortedSet(
                            new TreeSet<>((Collection<Integer>) operators));
            shapes = ImmutableList.copyOf(shapes);
        }
    }

    /**
     * A node as described by the engine. Ids are the engine's: −1 stands for an absent optional
     * input.
     *
     * @param id for an operator, its index in the file
     * @param builtinCode the engine's code for the type of operator
     * @param inPlace the inputs whose place the output may take, if the engine reports it
     * @param replaced for a delegate kernel, the operators that the kernel replaces
     */
    record LiveNode(
            int id,
            int builtinCode,
            Optional<Operator.InPlace> inPlace,
            List<Integer> replaced,
            List<Integer> inputs,
            List<Integer> outputs,
            List<Integer> temporaries) {

        public LiveNode {
            replaced = ImmutableList.copyOf(replaced);
            inputs = ImmutableList.copyOf(inputs);
            outputs = ImmutableList.copyOf(outputs);
            temporaries = ImmutableList.copyOf(temporaries);
        }

        public boolean delegated() {
            return !replaced.isEmpty();
        }

        /** Returns the operators of the file that it runs. */
        public List<Integer> operators() {
            return delegated() ? replaced : List.of(id);
        }
    }

    /**
     * A tensor as described by the engine.
     *
     * @param typeCode the engine's code of the element type
     * @param allocation who allocates it
     * @param variable whether it keeps state between inferences
     * @param ours whether djl-plan places it
     * @param shape the tensor's dimensions
     * @param bytes the tensor's size
     * @param address the tensor's current address, 0 if it has no memory
     */
    record LiveTensor(
            int typeCode,
            Allocation allocation,
            boolean variable,
            boolean ours,
            List<Integer> shape,
            long bytes,
            long address) {

        public LiveTensor {
            shape = ImmutableList.copyOf(shape);
        }
    }

    /** {@code TfLiteAllocationType}, by ordinal. */
    enum Allocation {
        NONE,
        MMAP_RO,
        ARENA_RW,
        ARENA_RW_PERSISTENT,
        DYNAMIC,
        PERSISTENT_RO,
        CUSTOM
    }

    /** Gives an input another shape; {@link #allocate} must follow. */
    void resize(int input, List<Integer> shape);

    /** Lets the kernels determine the memory that they need. */
    void allocate();

    /** Sets the value of an input of strings for the next run; required before each run. */
    void fill(int input, byte[] strings);

    /**
     * Sets the plan.
     *
     * @return whether it fits the engine's needs
     */
    boolean place(int[] ids, long[] offsets, long arenaBytes);

    /**
     * Tensor places that the native library chose itself.
     *
     * @param arenaBytes size of the arena that these places need
     * @param leastBytes a lower bound on the arena's size, wherever the tensors are placed
     * @param outputOffsets offset of each output in the arena, −1 for an output in the engine's
     *     memory
     */
    record Fitted(long arenaBytes, long leastBytes, long[] outputOffsets) {

        /** A possible saving of at most one part in this many does not count. */
        private static final int LITTLE_PART = 16;

        /** Returns whether a plan might need clearly less memory. */
        boolean wastes() {
            return arenaBytes - leastBytes > leastBytes / LITTLE_PART;
        }
    }

    /**
     * Makes the native library find places, quickly, and uses them as a plan, for shapes that may
     * never recur.
     *
     * @return empty if there are no such places, for example because sizes are known only at run
     *     time
     */
    Optional<Fitted> fit();

    /** Runs once without planned tensors. */
    void invokeStock();

    /**
     * Runs once in an arena.
     *
     * @return whether the plan still fitted; if not, nothing ran
     */
    boolean invoke(Arena arena);

    String error();

    List<Integer> inputs();

    List<Integer> outputs();

    List<LiveNode> nodes();

    /**
     * Returns the nanoseconds of each node in the last inference; empty unless the session is
     * timed.
     */
    long[] times();

    /** Returns the tensors by id. */
    List<LiveTensor> tensors();

    /** Frees it. Does nothing the second time. */
    @Override
    void close();
}
