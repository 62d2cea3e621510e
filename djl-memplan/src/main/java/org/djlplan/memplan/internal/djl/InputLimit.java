package org.djlplan.memplan.internal.djl;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import java.nio.charset.StandardCharsets;
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
            // Strings are encoded to count their bytes.
            bytes += mostBytes == Long.MAX_VALUE ? 0 : bytes(input);
        }
        if (bytes > mostBytes) {
            refuse("inputs of " + bytes + " bytes", "at most " + mostBytes + " bytes");
        }
    }

    private static long bytes(NDArray input) {
        DataType type = input.getDataType();
        return type == DataType.STRING
                ? stringBytes(input)
                : input.size() * Math.max(0, type.getNumOfBytes());
    }

    /** Returns the bytes of strings in UTF-8; one for each, if the engine cannot read them. */
    private static long stringBytes(NDArray strings) {
        try {
            long bytes = 0;
            for (String string : strings.toStringArray()) {
                bytes += string.getBytes(StandardCharsets.UTF_8).length;
            }
            return bytes;
        } catch (RuntimeException e) {
            return strings.size();
        }
    }

    private void refuse(String inputs, String allowed) {
        throw new InputTooLargeException(model + " does not take " + inputs + ": " + allowed);
    }
}
