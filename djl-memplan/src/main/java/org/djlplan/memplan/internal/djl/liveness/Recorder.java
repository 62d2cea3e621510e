package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.base.Strings;
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

    private final Thread owner = Thread.currentThread();
    private final NDManager root;
    private final int inputCount;
    private final boolean repeatable;
    private final IdentityHashMap<NDArray, Integer> numbers = new IdentityHashMap<>();
    private final List<NDArray> created = new ArrayList<>();
    private final List<ArrayType> types = new ArrayList<>();
    private final List<NDManager> managers = new ArrayList<>();
    private final BitSet kept = new BitSet();
    private final BitSet foreignMemory = new BitSet();
    private final IdentityHashMap<NDArray, Integer> foreignNumbers = new IdentityHashMap<>();
    private final List<BlockRecording.Array> foreign = new ArrayList<>();
    private final List<BlockRecording.Operation> operations = new ArrayList<>();
    private final List<Long> ownBytes = new ArrayList<>();
    private final BitSet closed = new BitSet();
    private final BitSet exposed = new BitSet();
    private final Reclaimer reclaimer = new Reclaimer();
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
        root = inputs.head().getManager();
        inputs.forEach(this::foreignNumber);
        inputCount = foreign.size();
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
        int number = created.size();
        created.add(array);
        numbers.put(array, number);
        types.add(ArrayTypes.of(array));
        managers.add(array.getManager());
        ownBytes.add(sharing ? 0 : bytes(array));
        reclaimer.created(ownBytes.get(number));
        // Outside an operation the block has the array itself, so its uses are not recorded.
        boolean unseen = !inOperation;
        if (unseen || !DirectBuffers.known(array) || array.getDataType() == DataType.STRING) {
            kept.set(number);
        }
        if (unseen) {
            foreignMemory.set(number);
        }
        keepDirect(number);
    }

    private static long bytes(NDArray array) {
        return array.getShape().size() * array.getDataType().getNumOfBytes();
    }

    @Override
    public void unregistered(NDArray array) {
        keep((NDArray) ArrayProxies.real(array));
    }

    /** Excludes an array from closing from now on. */
    void keep(NDArray array) {
        Optional.ofNullable(numbers.get(array)).ifPresent(kept::set);
    }

    /**
     * Excludes an array from closing until the pass ends, because the block can reach it without a
     * stand-in.
     */
    void expose(NDArray array) {
        Optional.ofNullable(numbers.get(array)).ifPresent(exposed::set);
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
        if (repeatable && reclaimer.due()) {
            reclaim(operands);
        }
        int first = created.size();
        Object result = Optional.empty();
        inOperation = true;
        sharing = Effects.mayShare(name);
        try {
            result = call.run();
        } finally {
            inOperation = false;
            note(name, operands, first, result);
            if (opaque) {
                kept.set(first, created.size());
            }
            if (target.isEmpty()) {
                keepElsewhere(first);
            }
        }
        return result;
    }

    /** Arrays created with a manager of another call, or the model's, are meant to live on. */
    private void keepElsewhere(int first) {
        for (int i = first; i < created.size(); i++) {
            if (!Managers.within(managers.get(i), root)) {
                kept.set(i);
            }
        }
    }

    private void forbid(String name, Optional<NDArray> target, Collection<NDArray> operands) {
        boolean changes =
                Effects.writes(name)
                        ? operands.stream().anyMatch(this::liesInForeignMemory)
                        : Effects.changesOwner(name)
                                && target.filter(array -> !numbers.containsKey(array)).isPresent();
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
        if (closeUnreachable(operands) > 0 && !reclaimer.due()) {
            return;
        }
        reclaimer.collect(() -> closeUnreachable(operands));
    }

    private int closeUnreachable(Collection<NDArray> operands) {
        int before = closed.cardinality();
        for (int i = closed.nextClearBit(0); i < created.size(); i = closed.nextClearBit(i + 1)) {
            NDArray array = created.get(i);
            if (!reachable.test(array) && !Needed.containsSame(operands, array)) {
                close(i);
            }
        }
        reclaimer.left(aliveBytes());
        return closed.cardinality() - before;
    }

    private long aliveBytes() {
        long bytes = 0;
        for (int i = closed.nextClearBit(0); i < created.size(); i = closed.nextClearBit(i + 1)) {
            bytes += created.get(i).isReleased() ? 0 : ownBytes.get(i);
        }
        return bytes;
    }

    /** Closes an array that the block no longer needs, if it exists for this pass only. */
    void close(NDArray array) {
        Optional.ofNullable(numbers.get(array)).ifPresent(this::close);
    }

    private void close(int number) {
        NDArray array = created.get(number);
        if (!over
                && flaw.isEmpty()
                && !kept.get(number)
                && !exposed.get(number)
                && !array.isReleased()
                && !DirectBuffers.mayUseDirectBuffer(array)
                && Managers.keepsOwnerDuringPass(managers.get(number), array.getManager(), root)) {
            closed.set(number);
            reclaimer.closed(ownBytes.get(number));
            array.close();
        }
    }

    /** Returns the number of closed arrays. */
    int closed() {
        return closed.cardinality();
    }

    private boolean liesInForeignMemory(NDArray array) {
        Integer number = numbers.get(array);
        return number == null || foreignMemory.get(number);
    }

    private void note(String name, Collection<NDArray> operands, int first, Object result) {
        Set<Integer> uses = new LinkedHashSet<>();
        Set<Integer> reads = new LinkedHashSet<>();
        boolean shared = false;
        for (NDArray operand : operands) {
            Integer number = numbers.get(operand);
            if (number == null) {
                reads.add(foreignNumber(operand));
            } else {
                uses.add(number);
            }
            shared |= Effects.mayShare(name) && liesInForeignMemory(operand);
        }
        boolean returnsLast = false;
        for (NDArray array : ArrayProxies.arraysIn(result)) {
            Integer number = numbers.get(array);
            if (number != null && number < first) {
                uses.add(number);
            }
            returnsLast |= number != null && number >= first && number == created.size() - 1;
        }
        for (int i = first; i < created.size(); i++) {
            // Composite operations move arrays between internal managers.
            managers.set(i, created.get(i).getManager());
            foreignMemory.set(i, shared);
        }
        operations.add(
                new BlockRecording.Operation(
                        name,
                        ImmutableList.copyOf(uses),
                        ImmutableList.copyOf(reads),
                        first,
                        created.size(),
                        returnsLast));
    }

    private int foreignNumber(NDArray array) {
        return foreignNumbers.computeIfAbsent(
                array,
                key -> {
                    foreign.add(
                            new BlockRecording.Array(
                                    ArrayTypes.of(array),
                                    true,
                                    Strings.nullToEmpty(array.getName())));
                    return foreign.size() - 1;
                });
    }

    private void keepDirect(int number) {
        if (DirectBuffers.mayUseDirectBuffer(created.get(number))) {
            kept.set(number);
        }
    }

    /**
     * Returns the recording.
     *
     * @param outputs that the block returned, as real arrays
     */
    BlockRecording recording(List<NDArray> outputs) {
        List<BlockRecording.Array> arrays = new ArrayList<>();
        for (int i = 0; i < created.size(); i++) {
            boolean moved = false;
            if (!closed.get(i)) {
                keepDirect(i);
                moved = !Managers.keepsOwner(managers.get(i), created.get(i).getManager(), root);
            }
            arrays.add(new BlockRecording.Array(types.get(i), moved || kept.get(i), ""));
        }
        return new BlockRecording(
                arrays,
                foreign,
                inputCount,
                operations,
                outputs.stream()
                        .filter(numbers::containsKey)
                        .map(numbers::get)
                        .distinct()
                        .collect(Collectors.toList()));
    }

    /** Returns all created arrays. */
    List<NDArray> created() {
        return created;
    }

    /**
     * Thrown in a recorded forward pass that is about to have a side effect; nothing has been
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
