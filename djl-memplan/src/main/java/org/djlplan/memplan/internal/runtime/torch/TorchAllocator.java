package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Native;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** libtorch's CPU allocator, which djl-plan intercepts. */
public final class TorchAllocator {

    private static final Logger logger = LoggerFactory.getLogger(TorchAllocator.class);

    /** The versions of libtorch that our tests use. */
    static final ImmutableSet<String> TESTED = ImmutableSet.of("2.1.1", "2.7.1");

    private static final int MESSAGE_BYTES = 256;

    private static boolean attached;

    private TorchAllocator() {}

    /**
     * Intercepts the allocator; the engine must be initialised. Nothing changes for allocations
     * outside our predictions.
     *
     * @param version of the engine's native library; empty if it is not known yet
     * @return why that is impossible; empty if it is done, also by an earlier call
     */
    public static synchronized Optional<String> attach(String version) {
        if (attached) {
            return Optional.empty();
        }
        byte[] message = new byte[MESSAGE_BYTES];
        try {
            NativeLoader.Use use = TorchNative.use();
            int refused = TorchNative.djlplan_torch_attach(message, message.length);
            use.close();
            if (refused != 0) {
                return Optional.of(Native.toString(message));
            }
        } catch (UnsupportedPlatformException e) {
            return Optional.of(e.getMessage());
        }
        attached = true;
        if (!version.isEmpty() && !TESTED.contains(version)) {
            logger.info(
                    "libtorch {} passed all checks of its allocator, but is not one of the tested"
                            + " versions {}",
                    version,
                    TESTED);
        }
        return Optional.empty();
    }
}
