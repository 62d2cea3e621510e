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

    /** Creates the sessions of one model. */
    @FunctionalInterface
    interface Source {

        /**
         * Builds a session.
         *
         * @throws UnplannableException if the engine or the delegate refuses
         */
        EngineSession open(Spec spec) throws UnplannableException;

        /**
         * Returns whether plans have places for the model's outputs, too. If not, these are in the
         * engine's own memory, as its inputs always are.
         */
        default boolean placesOutputs() {
            return false;
        }
    }

    /**
     * The properties of a session that are fixed when it is built.
     *
     * @param threads number of threads, −1 for the engine's default
     * @param planned tensors that the caller places, with the temporaries; empty for a session with
     *     its own memory
     * @param delegated the operators to delegate, and to what
     * @param timed whether each node's time is taken
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
     * @param delegate takes them; not closed with the session
     * @param operators their indices in the file
     * @param shapes of the inputs when the delegate takes the operators; empty for those in the
     *     file. XNNPACK plans no less memory than for these, whatever the inputs are resized to.
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
     * @param id of an operator its index in the file
     * @param builtinCode the engine's code of the kind of operator
     * @param inPlace the inputs whose place the output may take, if the engine reports it
     * @param replaced the operators that it runs for them, if it is a delegate kernel
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

        /** Returns whether a delegate runs it. */
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
     * @param ours whether its memory is ours to place
     * @param shape its dimensions
     * @param bytes its size
     * @param address where it lies now, 0 for nowhere
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

    /** Lets the kernels say what memory they need. */
    void allocate();

    /** Gives an input of strings its next value; anew before each run. */
    void fill(int input, byte[] strings);

    /**
     * Sets the plan.
     *
     * @return whether it fits what the engine needs
     */
    boolean place(int[] ids, long[] offsets, long arenaBytes);

    /**
     * Places of tensors that the native library chose itself.
     *
     * @param arenaBytes how large an arena they need
     * @param leastBytes a lower bound of what any places need
     * @param outputOffsets where in it each output lies, −1 for one in the engine's memory
     */
    record Fitted(long arenaBytes, long leastBytes, long[] outputOffsets) {

        /** One part in so many is little. */
        private static final int LITTLE_PART = 16;

        /** Returns whether a plan may need clearly less. */
        boolean wastes() {
            return arenaBytes - leastBytes > leastBytes / LITTLE_PART;
        }
    }

    /**
     * Has the native library find places, quickly, and takes them as a plan: for shapes that may
     * never come back.
     *
     * @return empty if there are none: sizes may be known only at run time
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

    /** Returns the engine's last message. */
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
