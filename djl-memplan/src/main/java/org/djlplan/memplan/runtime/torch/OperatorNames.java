package org.djlplan.memplan.runtime.torch;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.sun.jna.Native;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The operators that make the allocations of predictions, as libtorch names them to its own
 * profiler: for one prediction at a time, and for reports alone, as operators are observed from
 * then on until the process ends.
 */
public final class OperatorNames {

    private static final int MESSAGE_BYTES = 256;
    private static final Splitter LINES = Splitter.on('\n').omitEmptyStrings();

    private OperatorNames() {}

    /**
     * An allocation.
     *
     * @param bytes what was asked for, not aligned
     * @param operator such as {@code aten::conv2d}: the one that the model calls, whatever others
     *     it calls itself; empty where no operator ran
     */
    public record Named(long bytes, String operator) {

        private static Named ofLine(String line) {
            int space = line.indexOf(' ');
            return new Named(Long.parseLong(line.substring(0, space)), line.substring(space + 1));
        }
    }

    /**
     * Notes the operators of predictions from now on. The allocator must be attached.
     *
     * @param version of the engine's native library
     * @return why they are not noted; empty if they are
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

    /** Notes no more. */
    public static void end() {
        TorchNative.djlplan_torch_names_end();
    }

    /** Returns the allocations that were noted, in their order. */
    public static List<Named> noted() {
        long bytes = TorchNative.djlplan_torch_names(new byte[0], 0);
        checkState(bytes >= 0 && bytes <= Integer.MAX_VALUE, "no memory for names");
        byte[] text = new byte[(int) bytes];
        long written = TorchNative.djlplan_torch_names(text, bytes);
        checkState(written == bytes, "%s bytes of names, then %s", bytes, written);
        return LINES.splitToStream(new String(text, StandardCharsets.UTF_8))
                .map(Named::ofLine)
                .collect(ImmutableList.toImmutableList());
    }
}
