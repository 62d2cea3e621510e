package org.djlplan.memplan.internal.djl;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.RequestOptions;
import org.djlplan.memplan.internal.runtime.NeededMemory;

/**
 * The limits of single predictions of a loaded model: of their inputs, and of the memory that
 * earlier predictions with such inputs needed. Thread-safe.
 */
public final class InputLimit {

    private final String model;
    private final long mostRequestBytes;
    private final Optional<NeededMemory> needed;
    private volatile long mostBytes;
    private volatile long longestDimension;

    /**
     * @param model its name
     * @param limits the limits at first
     * @param needed the memory that predictions needed; empty if it is not known
     */
    InputLimit(String model, RequestOptions limits, Optional<NeededMemory> needed) {
        this.model = model;
        mostRequestBytes = limits.mostBytes();
        mostBytes = limits.mostBytes();
        longestDimension = limits.longestDimension();
        this.needed = mostRequestBytes == Long.MAX_VALUE ? Optional.empty() : needed;
        this.needed.ifPresent(memory -> memory.setLimit(mostRequestBytes));
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
     * @throws InputTooLargeException if they are too large, or such a prediction needed too much
     *     memory
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
        Optional<NeededMemory.Above> above =
                needed.flatMap(memory -> memory.above(ArraySizes.of(inputs)));
        if (above.isPresent()) {
            refuse(
                    "inputs of shapes " + ArraySizes.of(inputs),
                    above.get().sizes()
                            + " needed "
                            + above.get().bytes()
                            + " bytes, and "
                            + OptionKey.MAX_REQUEST.key()
                            + " is "
                            + mostRequestBytes);
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
