package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Records one forward pass: the created arrays, and the operations that use them. It belongs to the
 * thread that created it; actions of other threads spoil the recording but not the results.
 */
final class Recorder implements CreationScope.Listener {

    /** An operation on real arrays. */
    interface Call {
        Object run() throws Throwable;
    }

    /** Methods that write into an array or draw random numbers. */
    private static final ImmutableSet<String> SIDE_EFFECTS =
            ImmutableSet.of(
                    "addi",
                    "subi",
                    "muli",
                    "divi",
                    "modi",
                    "powi",
                    "negi",
                    "signi",
                    "rdivi",
                    "rsubi",
                    "rmodi",
                    "rpowi",
                    "set",
                    "setScalar",
                    "put",
                    "intern",
                    "copyTo",
                    "setRequiresGradient",
                    "randomUniform",
                    "randomNormal",
                    "randomInteger",
                    "randomMultinomial",
                    "randomPermutation",
                    "randomBrightness",
                    "randomColorJitter",
                    "randomFlipLeftRight",
                    "randomFlipTopBottom",
                    "randomHue",
                    "sampleGamma",
                    "sampleNormal",
                    "samplePoisson",
                    "truncatedNormal");

    /** An array that the pass created, and whether it may be closed before the pass ends. */
    private static final class Created {

        private final NDArray array;
        private final ReplayPlan.Form form;

        /** The number of the first creation after its last use. */
        private int closedAt;

        private NDManager owner;
        private boolean kept;
        private boolean closed;

        /**
         * @param number of arrays created before
         * @param unseen whether it was created outside an operation: the block then has the array
         *     itself, so its uses are not recorded
         */
        Created(NDArray array, int number, boolean unseen) {
            this.array = array;
            form = ReplayPlan.Form.of(array);
            closedAt = number + 1;
            owner = array.getManager();
            kept =
                    unseen
                            || !DirectBuffers.known(array)
                            || DirectBuffers.mayUseDirectBuffer(array)
                            || array.getDataType() == DataType.STRING;
        }
    }

    private final Thread owner = Thread.currentThread();
    private final NDManager root;
    private final List<Created> created = new ArrayList<>();
    private final IdentityHashMap<NDArray, Integer> createdNumbers = new IdentityHashMap<>();

    /** The inputs, and other arrays that the pass did not create, such as parameters. */
    private final Set<NDArray> foreign = Collections.newSetFromMap(new IdentityHashMap<>());

    private boolean inOperation;
    private boolean hasSideEffects;
    private volatile boolean over;
    private volatile Optional<String> flaw = Optional.empty();

    Recorder(NDList inputs) {
        root = inputs.head().getManager();
        foreign.addAll(inputs);
    }

    @Override
    public void created(NDArray array) {
        createdNumbers.put(array, created.size());
        created.add(new Created(array, created.size(), !inOperation));
    }

    @Override
    public void unregistered(NDArray array) {
        keep((NDArray) ArrayProxies.real(array));
    }

    private Optional<Created> find(NDArray array) {
        return Optional.ofNullable(createdNumbers.get(array)).map(created::get);
    }

    /** Excludes an array from closing. */
    void keep(NDArray array) {
        find(array).ifPresent(found -> found.kept = true);
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

    /** Returns whether the pass changed arrays or drew random numbers, so it must not run again. */
    boolean hasSideEffects() {
        return hasSideEffects;
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
     * @param ofArray whether it is called on an array
     * @param operands all arrays passed to it, the array on which it is called first
     * @param opaque whether it gets an object that may keep arrays
     */
    Object operation(
            String name, boolean ofArray, Collection<NDArray> operands, boolean opaque, Call call)
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
        hasSideEffects |= SIDE_EFFECTS.contains(name);
        int first = created.size();
        Object result = Optional.empty();
        inOperation = true;
        try {
            result = call.run();
        } finally {
            inOperation = false;
            note(operands, first, result);
            for (Created made : created.subList(first, created.size())) {
                // Composite operations move arrays between internal managers.
                made.owner = made.array.getManager();
                // Arrays of another call's manager, or the model's, are meant to live on.
                made.kept |= opaque || (!ofArray && !Managers.within(made.owner, root));
            }
        }
        return result;
    }

    /** Returns whether these arrays were created or used before. */
    boolean knows(List<NDArray> arrays) {
        return arrays.stream()
                .allMatch(array -> createdNumbers.containsKey(array) || foreign.contains(array));
    }

    /**
     * Notes the uses of an operation. If it returns the last array that it creates, it does not
     * need its operands once that array exists; other arrays that it creates may be in use until it
     * ends.
     */
    private void note(Collection<NDArray> operands, int first, Object result) {
        Set<Integer> uses = new LinkedHashSet<>();
        for (NDArray operand : operands) {
            Integer own = createdNumbers.get(operand);
            if (own != null) {
                uses.add(own);
            } else {
                foreign.add(operand);
            }
        }
        boolean returnsLast = false;
        for (NDArray array : ArrayProxies.arraysIn(result)) {
            Integer own = createdNumbers.get(array);
            if (own != null && own < first) {
                uses.add(own);
            }
            returnsLast |= own != null && own >= first && own == created.size() - 1;
        }
        int end = created.size();
        created.subList(first, end).forEach(made -> made.closedAt = end);
        for (int number : uses) {
            created.get(number).closedAt = returnsLast ? end - 1 : end;
        }
    }

    /** Closes all arrays created so far, except those that the pass still needs. */
    void closeAllBut(List<NDArray> needed) {
        Set<Object> real = Collections.newSetFromMap(new IdentityHashMap<>());
        needed.forEach(array -> real.add(ArrayProxies.real(array)));
        for (Created each : created) {
            if (flaw.isEmpty()
                    && !each.kept
                    && !each.closed
                    && !real.contains(each.array)
                    && !each.array.isReleased()
                    && !DirectBuffers.mayUseDirectBuffer(each.array)
                    && Managers.keepsOwnerDuringPass(each.owner, each.array.getManager(), root)) {
                each.closed = true;
                each.array.close();
            }
        }
    }

    /**
     * Returns the plan of passes like the recorded one.
     *
     * @param outputs that the block returned, as real arrays
     */
    ReplayPlan plan(List<NDArray> outputs) {
        int[] closedAt = created.stream().mapToInt(each -> each.closedAt).toArray();
        for (int i = 0; i < closedAt.length; i++) {
            closedAt[i] = isKept(created.get(i)) ? ReplayPlan.NEVER : closedAt[i];
        }
        for (NDArray output : outputs) {
            Optional.ofNullable(createdNumbers.get(output))
                    .ifPresent(number -> closedAt[number] = ReplayPlan.NEVER);
        }
        return new ReplayPlan(created.stream().map(each -> each.form).toList(), closedAt);
    }

    private boolean isKept(Created each) {
        return each.kept
                || (!each.closed
                        && (DirectBuffers.mayUseDirectBuffer(each.array)
                                || !Managers.keepsOwner(
                                        each.owner, each.array.getManager(), root)));
    }

    /** Returns all arrays that were created. */
    List<NDArray> created() {
        return created.stream().map(each -> each.array).toList();
    }
}
