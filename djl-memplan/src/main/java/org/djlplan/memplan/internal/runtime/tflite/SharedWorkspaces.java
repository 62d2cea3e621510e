package org.djlplan.memplan.internal.runtime.tflite;

import java.util.Optional;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines whether XNNPACK's workspaces can be shared in this process. This is possible from
 * TensorFlow Lite 2.20 on, if the process did not use XNNPACK before djl-plan did.
 */
final class SharedWorkspaces {

    private static final Logger logger = LoggerFactory.getLogger(SharedWorkspaces.class);

    /** Set to {@code false} by benchmarks that measure models without sharing. */
    private static final String PROPERTY = "djlplan.internal.sharedWorkspaces";

    private enum Answer {
        UNKNOWN,
        YES,
        NO,
        TOO_LATE
    }

    private static Answer possible = Answer.UNKNOWN;

    private SharedWorkspaces() {}

    /**
     * Makes XNNPACK allocate its memory so that workspaces can be shared. Must be called before the
     * process creates its first interpreter, and only while the native methods are bound.
     */
    static synchronized void prepare() {
        if (possible == Answer.UNKNOWN) {
            possible = isOff() ? Answer.NO : attach();
        }
    }

    /** XNNPACK's allocator is set once for a process, so a property of the process decides. */
    private static boolean isOff() {
        return "false".equalsIgnoreCase(System.getProperty(PROPERTY));
    }

    private static Answer attach() {
        return switch (TfLiteNative.djlplan_workspaces_attach()) {
            case TfLiteNative.OK -> Answer.YES;
            case TfLiteNative.MISMATCH -> Answer.NO;
            default -> Answer.TOO_LATE;
        };
    }

    /**
     * Returns the pool of the workspaces of this JVM's models; empty if they cannot be shared. If
     * other code used XNNPACK before, one warning says so.
     */
    static synchronized Optional<WorkspacePool> pool() {
        prepare();
        if (possible == Answer.TOO_LATE) {
            possible = Answer.NO;
            logger.warn(
                    "Models share no workspaces: XNNPACK was used in this process before djl-plan");
        }
        return possible == Answer.YES ? Optional.of(WorkspacePool.shared()) : Optional.empty();
    }
}
