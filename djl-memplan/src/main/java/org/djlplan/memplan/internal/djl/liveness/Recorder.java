package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Records one forward pass: the created arrays, and the operations that use them. It belongs to the
 * thread that created it; actions of other threads spoil the recording but not the results.
 */
final class Recorder implements CreationScope.Listener {

    /** An operation on real arrays. */
    interface Call {
        Object run() throws Throwable;
    }

    /** Is less than each array's number. */
    private static final int NOT_CREATED = -1;

    private final Thread owner = Thread.currentThread();
    private final boolean repeatable;
    private final CreatedArrays created;
    private final ForeignArrays foreign;
    private final List<BlockRecording.Operation> operations = new ArrayList<>();
    private Predicate<NDArray> reachable = array -> true;
    private boolean inOperation;

    /** Whether arrays created by the current operation may share memory with another array. */
    private boolean sharing;

    private boolean unrepeatable;
    private volatile boolean over;
    private volatile Optional<String> flaw = Optional.empty();

    /**
     * @param repeatable whether the pass may be abandoned and run once more
     */
    Recorder(NDList inputs, boolean repeatable) {
        this.repeatable = repeatable;
        created = new CreatedArrays(inputs.head().getManager());
        foreign = new ForeignArrays(inputs);
    }

    /**
     * Sets which arrays the block can reach.
     *
     * @param test returns false for an array whose stand-in is unreachable
     */
    void standIns(Predicate<NDArray> test) {
        reachable = test;
    }

    @Override
    public void created(NDArray array) {
        created.add(array, sharing, !inOperation);
    }

    @Override
    public void unregistered(NDArray array) {
        keep((NDArray) ArrayProxies.real(array));
    }

    /** Excludes an array from closing from now on. */
    void keep(NDArray array) {
        created.find(array).ifPresent(CreatedArray::keep);
    }

    /**
     * Excludes an array from closing until the pass ends, because the block can reach it without a
     * stand-in.
     */
    void expose(NDArray array) {
        created.find(array).ifPresent(CreatedArray::expose);
    }

    /** Invalidates the recording, for a reason that users see. */
    void spoil(String reason) {
        if (!over && flaw.isEmpty()) {
            flaw = Optional.of(reason);
        }
    }

    /** Returns why the recording is invalid, if it is. */
    Optional<String> flaw() {
        return flaw;
    }

    /** Returns whether the pass modifies its arguments, or tried to. */
    boolean unrepeatable() {
        return unrepeatable;
    }

    /** Ends the recording; remaining stand-ins then only pass calls on. */
    void end() {
        over = true;
    }

    /** Returns whether the recording has ended. */
    boolean over() {
        return over;
    }

    /**
     * Runs a method and records the arrays that it uses.
     *
     * @param name the method's name
     * @param target the array on which it is called, if any
     * @param operands all arrays passed to it, the target first
     * @param opaque whether it gets an object that may keep arrays
     * @throws UnrepeatableException instead of modifying an array that the block received, if the
     *     pass may be run once more
     */
    Object operation(
            String name,
            Optional<NDArray> target,
            Collection<NDArray> operands,
            boolean opaque,
            Call call)
            throws Throwable {
        if (over) {
            return call.run();
        }
        if (Thread.currentThread() != owner) {
            spoil("it works on several threads");
            return call.run();
        }
        if (inOperation) {
            spoil("an operation calls back to its operands");
            return call.run();
        }
        forbid(name, target, operands);
        if (repeatable && created.isReclaimDue()) {
            reclaim(operands);
        }
        int first = created.count();
        Object result = Optional.empty();
        inOperation = true;
        sharing = Effects.mayShare(name);
        try {
            result = call.run();
        } finally {
            inOperation = false;
            note(name, operands, first, result);
            if (opaque) {
                created.keepSince(first);
            }
            if (target.isEmpty()) {
                // Arrays of another call's manager, or the model's, are meant to live on.
                created.keepElsewhereSince(first);
            }
        }
        return result;
    }

    private void forbid(String name, Optional<NDArray> target, Collection<NDArray> operands) {
        boolean changes =
                Effects.writes(name)
                        ? operands.stream().anyMatch(this::liesInForeignMemory)
                        : Effects.changesOwner(name)
                                && target.filter(array -> created.find(array).isEmpty())
                                        .isPresent();
        if (changes) {
            refuse(name + " changes an array that the block was given");
        }
        if (repeatable && Effects.draws(name)) {
            refuse(name + " moves the engine's generator of random numbers");
        }
    }

    private void refuse(String what) {
        unrepeatable = true;
        if (repeatable) {
            throw new UnrepeatableException(what);
        }
        spoil(what);
    }

    /**
     * Closes unreachable arrays: in a recorded pass the block has stand-ins, and the stand-ins of
     * these arrays were garbage-collected. Called between two operations, so that the engine uses
     * no array except the operands of the next one.
     */
    private void reclaim(Collection<NDArray> operands) {
        created.reclaim(
                array ->
                        !mayClose()
                                || reachable.test(array)
                                || Needed.containsSame(operands, array));
    }

    /** Closes an array that the block no longer needs, if it exists for this pass only. */
    void close(NDArray array) {
        if (mayClose()) {
            created.find(array).ifPresent(created::close);
        }
    }

    private boolean mayClose() {
        return !over && flaw.isEmpty();
    }

    /** Returns the number of closed arrays. */
    int closed() {
        return created.closed();
    }

    private boolean liesInForeignMemory(NDArray array) {
        Optional<CreatedArray> own = created.find(array);
        return own.isEmpty() || own.get().isInForeignMemory();
    }

    private void note(String name, Collection<NDArray> operands, int first, Object result) {
        Set<Integer> uses = new LinkedHashSet<>();
        Set<Integer> reads = new LinkedHashSet<>();
        boolean shared = false;
        for (NDArray operand : operands) {
            Optional<CreatedArray> own = created.find(operand);
            if (own.isPresent()) {
                uses.add(own.get().number());
            } else {
                reads.add(foreign.number(operand));
            }
            shared |= Effects.mayShare(name) && liesInForeignMemory(operand);
        }
        boolean returnsLast = false;
        for (NDArray array : ArrayProxies.arraysIn(result)) {
            int number = created.find(array).map(CreatedArray::number).orElse(NOT_CREATED);
            if (number >= 0 && number < first) {
                uses.add(number);
            }
            returnsLast |= number >= first && number == created.count() - 1;
        }
        for (CreatedArray made : created.since(first)) {
            made.completed(shared);
        }
        operations.add(
                new BlockRecording.Operation(
                        name,
                        ImmutableList.copyOf(uses),
                        ImmutableList.copyOf(reads),
                        first,
                        created.count(),
                        returnsLast));
    }

    /**
     * Returns the recording.
     *
     * @param outputs that the block returned, as real arrays
     */
    BlockRecording recording(List<NDArray> outputs) {
        List<Integer> returned = new ArrayList<>();
        for (NDArray output : outputs) {
            created.find(output).map(CreatedArray::number).ifPresent(returned::add);
        }
        return new BlockRecording(
                created.recorded(),
                foreign.all(),
                foreign.inputCount(),
                operations,
                ImmutableList.copyOf(new LinkedHashSet<>(returned)));
    }

    /** Returns how many arrays were created so far. */
    int createdCount() {
        return created.count();
    }

    /** Returns the arrays that were created after the first {@code count}. */
    List<NDArray> createdSince(int count) {
        List<NDArray> arrays = new ArrayList<>();
        for (CreatedArray each : created.since(count)) {
            arrays.add(each.array());
        }
        return arrays;
    }

    /**
     * Signals that a recorded forward pass was about to have a side effect; nothing has been
     * changed yet.
     */
    static final class UnrepeatableException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        /**
         * @param what the side effect that is about to happen
         */
        UnrepeatableException(String what) {
            super(what);
        }
    }
}
