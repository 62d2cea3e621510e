package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;

/** An array that a recorded pass created, and whether it may be closed before the pass ends. */
final class CreatedArray {

    private final int number;
    private final NDArray array;
    private final ArrayType type;
    private final long ownBytes;
    private NDManager owner;
    private boolean kept;
    private boolean exposed;
    private boolean inForeignMemory;
    private boolean closed;

    /**
     * @param number how many arrays the pass created before
     * @param sharing whether it may share memory with another array
     * @param unseen whether it was created outside an operation: the block then has the array
     *     itself, so its uses are not recorded
     */
    CreatedArray(int number, NDArray array, boolean sharing, boolean unseen) {
        this.number = number;
        this.array = array;
        type = ArrayTypes.of(array);
        ownBytes = sharing ? 0 : array.getShape().size() * array.getDataType().getNumOfBytes();
        owner = array.getManager();
        kept = unseen || !DirectBuffers.known(array) || array.getDataType() == DataType.STRING;
        inForeignMemory = unseen;
        keepIfDirect();
    }

    int number() {
        return number;
    }

    NDArray array() {
        return array;
    }

    /** Returns the size of the memory that this array alone has. */
    long ownBytes() {
        return ownBytes;
    }

    /** Returns whether it may lie in memory of an array that the block received. */
    boolean isInForeignMemory() {
        return inForeignMemory;
    }

    /**
     * Notes the end of the operation that created it. Composite operations move arrays between
     * internal managers, so only now the array has its owner.
     *
     * @param sharesForeignMemory whether it may lie in memory of an array that the block received
     */
    void completed(boolean sharesForeignMemory) {
        owner = array.getManager();
        inForeignMemory = sharesForeignMemory;
    }

    /** Excludes it from closing from now on. */
    void keep() {
        kept = true;
    }

    /** Excludes it from closing until the pass ends. */
    void expose() {
        exposed = true;
    }

    /** Excludes it from closing if its owner is not one of the call's managers. */
    void keepUnlessWithin(NDManager root) {
        kept |= !Managers.within(owner, root);
    }

    private void keepIfDirect() {
        kept |= DirectBuffers.mayUseDirectBuffer(array);
    }

    /**
     * Closes it if it exists for this pass only; returns false if it does not.
     *
     * @param root the call's manager
     */
    boolean close(NDManager root) {
        if (kept
                || exposed
                || array.isReleased()
                || DirectBuffers.mayUseDirectBuffer(array)
                || !Managers.keepsOwnerDuringPass(owner, array.getManager(), root)) {
            return false;
        }
        closed = true;
        array.close();
        return true;
    }

    /** Returns whether it was closed here. */
    boolean isClosed() {
        return closed;
    }

    /** Returns whether it has memory, because nobody has closed it. */
    boolean isAlive() {
        return !closed && !array.isReleased();
    }

    /**
     * Returns the array for the recording of a pass that has ended.
     *
     * @param root the call's manager
     */
    BlockRecording.Array recorded(NDManager root) {
        boolean moved = false;
        if (!closed) {
            keepIfDirect();
            moved = !Managers.keepsOwner(owner, array.getManager(), root);
        }
        return new BlockRecording.Array(type, moved || kept, "");
    }
}
