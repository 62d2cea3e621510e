package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.sun.jna.Native;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Reads which operators make the allocations of predictions, and the shapes of their results, as
 * libtorch reports them to its profiler. It does so for one prediction at a time, and only for
 * reports, because it slows down each operator.
 */
public final class OperatorNames {

    private static final int MESSAGE_BYTES = 256;
    private static final Splitter LINES = Splitter.on('\n').omitEmptyStrings();
    private static final Splitter PARTS = Splitter.on(' ').limit(3);
    private static final Splitter SIZES = Splitter.on(',').omitEmptyStrings();

    private OperatorNames() {}

    /**
     * An allocation.
     *
     * @param bytes the requested bytes, not aligned
     * @param operator the operator that the model calls, such as {@code aten::conv2d}, even if an
     *     operator that it calls makes the allocation; empty if no operator ran
     * @param shape the shape of the array in the allocation; empty if the operator returned no such
     *     array
     */
    public record Named(long bytes, String operator, Optional<List<Integer>> shape) {

        private static final String NO_SHAPE = "?";

        public Named {
            shape = shape.map(ImmutableList::copyOf);
        }

        private static Named ofLine(String line) {
            List<String> parts = PARTS.splitToList(line);
            return new Named(
                    Long.parseLong(parts.get(0)),
                    parts.get(2),
                    parts.get(1).equals(NO_SHAPE)
                            ? Optional.empty()
                            : Optional.of(
                                    SIZES.splitToStream(parts.get(1))
                                            .map(Integer::valueOf)
                                            .toList()));
        }
    }

    /**
     * Records the operators of predictions from now on. The allocator must be attached.
     *
     * @param version of the engine's native library
     * @return why they are not recorded; empty if they are
     */
    public static Optional<String> begin(String version) {
        if (!TorchAllocator.TESTED.contains(version)) {
            return Optional.of(
                    "those of libtorch %s are not read, only those of %s"
                            .formatted(version, TorchAllocator.TESTED));
        }
        byte[] message = new byte[MESSAGE_BYTES];
        return TorchNative.djlplan_torch_names_begin(message, message.length) == 0
                ? Optional.empty()
                : Optional.of(Native.toString(message));
    }

    /** Stops recording. */
    public static void end() {
        TorchNative.djlplan_torch_names_end();
    }

    /** Returns the recorded allocations, in their order. */
    public static List<Named> noted() {
        long bytes = TorchNative.djlplan_torch_names(new byte[0], 0);
        checkState(bytes >= 0, "no memory for names");
        byte[] text = new byte[Ints.checkedCast(bytes)];
        long written = TorchNative.djlplan_torch_names(text, bytes);
        checkState(written == bytes, "%s bytes of names, then %s", bytes, written);
        return LINES.splitToStream(new String(text, StandardCharsets.UTF_8))
                .map(Named::ofLine)
                .collect(ImmutableList.toImmutableList());
    }
}
