package org.djlplan.memplan.internal.djl;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import org.djlplan.memplan.errors.InputTooLargeException;

/** The limit of the inputs of a loaded model; at first there is none. Thread-safe. */
public final class InputLimit {

    private final String model;
    private volatile long mostBytes = Long.MAX_VALUE;
    private volatile long longestDimension = Long.MAX_VALUE;

    /**
     * @param model its name
     */
    InputLimit(String model) {
        this.model = model;
    }

    /** Sets the limit of the total bytes of all inputs of a prediction. */
    public void setMostBytes(long bytes) {
        checkArgument(bytes > 0, "at most %s bytes of inputs", bytes);
        mostBytes = bytes;
    }

    /** Sets the limit of any dimension of an input. */
    public void setLongestDimension(long length) {
        checkArgument(length > 0, "dimensions of at most %s", length);
        longestDimension = length;
    }

    /**
     * Checks the inputs of a prediction.
     *
     * @throws InputTooLargeException if they are too large
     */
    void check(NDList inputs) {
        if (mostBytes == Long.MAX_VALUE && longestDimension == Long.MAX_VALUE) {
            return;
        }
        long bytes = 0;
        for (NDArray input : inputs) {
            for (long length : input.getShape().getShape()) {
                if (length > longestDimension) {
                    refuse(
                            "an input of shape " + input.getShape(),
                            "dimensions of at most " + longestDimension);
                }
            }
            bytes += input.size() * input.getDataType().getNumOfBytes();
        }
        if (bytes > mostBytes) {
            refuse("inputs of " + bytes + " bytes", "at most " + mostBytes + " bytes");
        }
    }

    private void refuse(String inputs, String allowed) {
        throw new InputTooLargeException(model + " does not take " + inputs + ": " + allowed);
    }
}
