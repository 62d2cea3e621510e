package org.djlplan.memplan.internal.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets forward passes through libtorch end before the JVM does. The C library's {@code exit()}
 * destroys data that libtorch's kernels use, so a process in which a pass still runs would crash
 * with SIGSEGV. Therefore a shutdown hook waits until no pass runs. Passes may still begin
 * meanwhile, because a service may still answer requests. If a pass runs at the time limit, the
 * hook makes the native library end the process without destructors.
 */
final class Passes {

    /** The longest wait of the hook. A pass that itself ends the JVM never ends. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    private static final Logger logger = LoggerFactory.getLogger(Passes.class);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(1);

    private static int models;
    private static Optional<Thread> hook = Optional.empty();

    private Passes() {}

    /** One open model, for which the native library is bound. */
    static final class Model implements AutoCloseable {

        private final NativeLoader.Use use;
        private boolean closed;

        private Model(NativeLoader.Use use) {
            this.use = use;
        }

        @Override
        public void close() {
            closed(this);
            use.close();
        }
    }

    /** A pass that the native library does not count itself. */
    static final class Pass {

        private final NativeLoader.Use use;

        private Pass(NativeLoader.Use use) {
            this.use = use;
        }

        /** Ends it, once, on any thread. */
        void end() {
            TorchNative.djlplan_torch_pass_end();
            use.close();
        }
    }

    /**
     * Binds the native library, and makes the JVM's exit wait for passes as long as the result is
     * open.
     */
    static Model open() {
        NativeLoader.Use use = bind();
        try {
            opened();
            return new Model(use);
        } catch (RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }

    private static synchronized void opened() {
        if (hook.isEmpty()) {
            hook = Optional.of(DaemonThreads.make(Passes::awaitNone, "djl-plan-exit"));
            unlessEnding(() -> Runtime.getRuntime().addShutdownHook(hook.get()));
        }
        models++;
    }

    /** Removes the hook after the last model, because the hook retains our class loader. */
    private static synchronized void closed(Model model) {
        models -= model.closed ? 0 : 1;
        model.closed = true;
        if (models == 0 && hook.isPresent()) {
            unlessEnding(() -> Runtime.getRuntime().removeShutdownHook(hook.get()));
            hook = Optional.empty();
        }
    }

    private static void unlessEnding(Runnable change) {
        try {
            change.run();
        } catch (IllegalStateException e) {
            logger.debug("The JVM is ending", e);
        }
    }

    /** Counts a pass that begins. */
    static Pass begin() {
        Pass pass = new Pass(bind());
        TorchNative.djlplan_torch_pass_begin();
        return pass;
    }

    private static NativeLoader.Use bind() {
        try {
            return TorchNative.use();
        } catch (UnsupportedPlatformException e) {
            throw new IllegalStateException("libtorch's allocator is not attached", e);
        }
    }

    private static void awaitNone() {
        try {
            NativeLoader.Use use = TorchNative.use();
            long since = System.nanoTime();
            while (TorchNative.djlplan_torch_passes() > 0
                    && System.nanoTime() - since < LONGEST_WAIT.toNanos()) {
                Thread.sleep(BETWEEN_LOOKS.toMillis());
            }
            // Registered last, so that it runs before the destructors of all objects that passes
            // have created.
            int unused = TorchNative.djlplan_torch_guard_exit();
            use.close();
        } catch (UnsupportedPlatformException e) {
            logger.debug("Not waiting for passes", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
