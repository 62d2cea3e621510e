package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The delegates that the option {@code delegation.delegate} may name. */
public final class Delegates {

    /** The delegate for CPUs that is part of the engine. */
    public static final String XNNPACK = "xnnpack";

    /** Most bytes that XNNPACK packs for a byte of constants: 8-bit weights, widened to floats. */
    public static final long MOST_PACKED_PER_BYTE = 4;

    /** XNNPACK with indirection buffers that are built for each prediction and not kept. */
    public static final String XNNPACK_TRANSIENT = "xnnpack-transient";

    private static final Logger logger = LoggerFactory.getLogger(Delegates.class);
    private static final String CLASS_PREFIX = "class:";
    private static final int MESSAGE_BYTES = 512;

    /** The largest number of threads that the engine uses by default. */
    private static final int MOST_DEFAULT_THREADS = 4;

    private Delegates() {}

    /**
     * Returns the factory that a name stands for: {@code xnnpack}, {@code xnnpack-transient},
     * {@code class:} and the name of a {@link DelegateFactory}, or the path of a library with
     * TensorFlow Lite's interface of external delegates.
     *
     * @throws IllegalArgumentException if the name stands for no factory
     */
    public static DelegateFactory named(String name) {
        if (isPartOfEngine(name)) {
            return new OfEngine(name.equals(XNNPACK_TRANSIENT));
        }
        if (name.startsWith(CLASS_PREFIX)) {
            return instance(name.substring(CLASS_PREFIX.length()));
        }
        if (!name.contains("/")) {
            throw new IllegalArgumentException(
                    "delegation.delegate="
                            + name
                            + ": must be xnnpack, xnnpack-transient, the path of a library, or"
                            + " class: and a name");
        }
        String library = Path.of(name).toAbsolutePath().toString();
        return threads -> Created.of(Optional.of(library), threads, false, Optional.empty());
    }

    /** Returns the bytes of all packed weights that interpreters of one model share. */
    public static long packedWeightsBytes() {
        return PackedWeights.bytesOfAll();
    }

    /** Returns whether a name stands for a delegate that is part of the engine. */
    public static boolean isPartOfEngine(String name) {
        return name.equals(XNNPACK) || name.equals(XNNPACK_TRANSIENT);
    }

    private static DelegateFactory instance(String className) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? Delegates.class.getClassLoader() : context;
        try {
            return Class.forName(className, true, loader)
                    .asSubclass(DelegateFactory.class)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new IllegalArgumentException(
                    "delegation.delegate=class:" + className + ": not a DelegateFactory", e);
        }
    }

    /**
     * Creates the delegate of a candidate.
     *
     * @param packed the weights of a delegate that is part of the engine
     * @throws UnplannableException if the factory makes no delegate, or none for this candidate
     */
    static NativeDelegate create(
            DelegateFactory factory, Candidate candidate, Optional<PackedWeights.Share> packed)
            throws UnplannableException {
        if (!candidate.transientBuffers()) {
            return create(factory, candidate.threads(), packed);
        }
        if (!(factory instanceof OfEngine)) {
            throw new UnplannableException("only XNNPACK builds buffers for each prediction");
        }
        return create(new OfEngine(true), candidate.threads(), packed);
    }

    /**
     * Creates a delegate; −1 threads stand for the engine's default. Closing it never fails, even
     * if closing the factory's own delegate does, so that the resources closed after it are freed
     * as well.
     *
     * @param packed the weights of a delegate that is part of the engine; closed with it, and if it
     *     cannot be made
     */
    static NativeDelegate create(
            DelegateFactory factory, int threads, Optional<PackedWeights.Share> packed)
            throws UnplannableException {
        int cores = Runtime.getRuntime().availableProcessors();
        int effective = threads == -1 ? Math.min(cores, MOST_DEFAULT_THREADS) : threads;
        try {
            return Guarded.of(
                    factory instanceof OfEngine engine
                            ? engine.create(effective, packed)
                            : factory.create(effective));
        } catch (IllegalStateException e) {
            throw new UnplannableException("no delegate: " + e.getMessage());
        } catch (RuntimeException | LinkageError e) {
            // An application's factory may throw anything, and loading its classes may fail.
            throw new UnplannableException("no delegate: " + e);
        }
    }

    /** Returns whether a factory's delegates can share their packed weights. */
    static boolean packs(DelegateFactory factory) {
        return factory instanceof OfEngine;
    }

    /** Creates the delegates that are part of the engine. */
    private record OfEngine(boolean isTransient) implements DelegateFactory {

        @Override
        public NativeDelegate create(int threads) {
            return create(threads, Optional.empty());
        }

        NativeDelegate create(int threads, Optional<PackedWeights.Share> packed) {
            return Created.of(Optional.empty(), threads, isTransient, packed);
        }
    }

    /**
     * Makes a delegate share its workspace's pages with other delegates, if it is XNNPACK's and
     * supports that. To be called each time that its session's tensors were allocated; lasts until
     * the delegate is closed.
     *
     * @param before the result of the last call for this delegate; it ends if XNNPACK has replaced
     *     the workspace
     */
    static Optional<WorkspacePool.Resident> share(
            NativeDelegate delegate, Optional<WorkspacePool.Resident> before) {
        if (before.isPresent() && ofEngine(delegate).map(Created::isMoved).orElse(false)) {
            return before;
        }
        before.ifPresent(WorkspacePool.Resident::close);
        return ofEngine(delegate)
                .flatMap(
                        created ->
                                SharedWorkspaces.pool()
                                        .filter(pool -> created.bytes() > 0)
                                        .flatMap(pool -> pool.join(created)));
    }

    private static Optional<Created> ofEngine(NativeDelegate delegate) {
        return delegate instanceof Guarded guarded
                        && guarded.inner() instanceof Created created
                        && created.ofEngine()
                ? Optional.of(created)
                : Optional.empty();
    }

    /** Returns the size of a delegate's workspace, 0 if it is unknown. */
    static long workspaceBytes(NativeDelegate delegate) {
        return ofEngine(delegate).map(Created::bytes).orElse(0L);
    }

    private record Guarded(NativeDelegate inner, long handle, AtomicBoolean open)
            implements NativeDelegate {

        static Guarded of(NativeDelegate inner) {
            checkState(inner != null, "the factory made none");
            boolean usable = false;
            long handle = 0;
            try {
                handle = inner.handle();
                usable = handle != 0;
            } finally {
                if (!usable) {
                    closeQuietly(inner);
                }
            }
            checkState(usable, "it has no handle");
            return new Guarded(inner, handle, new AtomicBoolean(true));
        }

        @Override
        public void close() {
            if (open.getAndSet(false)) {
                closeQuietly(inner);
            }
        }

        private static void closeQuietly(NativeDelegate delegate) {
            try {
                delegate.close();
            } catch (RuntimeException | Error e) {
                logger.warn("A delegate could not be closed: {}", e.toString());
            }
        }
    }

    /**
     * A delegate created by the native library.
     *
     * @param ofEngine whether it is part of the engine
     * @param packed its packed weights, if it shares them with the model's other delegates
     */
    private record Created(Pointer delegate, boolean ofEngine, Optional<PackedWeights.Share> packed)
            implements NativeDelegate, WorkspacePool.Workspace {

        static Created of(
                Optional<String> library,
                int threads,
                boolean isTransient,
                Optional<PackedWeights.Share> packed) {
            byte[] message = new byte[MESSAGE_BYTES];
            Pointer delegate =
                    TfLiteNative.djlplan_delegate_create(
                            library.orElse(null),
                            threads,
                            isTransient ? 1 : 0,
                            packed.map(PackedWeights.Share::handle).orElse(null),
                            message,
                            MESSAGE_BYTES);
            if (delegate == null) {
                packed.ifPresent(PackedWeights.Share::close);
                throw new IllegalStateException(Native.toString(message));
            }
            return new Created(delegate, library.isEmpty(), packed);
        }

        @Override
        public long handle() {
            return Pointer.nativeValue(TfLiteNative.djlplan_delegate_handle(delegate));
        }

        @Override
        public long bytes() {
            return TfLiteNative.djlplan_workspace_bytes(delegate);
        }

        boolean isMoved() {
            return TfLiteNative.djlplan_workspace_moved(delegate) != 0;
        }

        @Override
        public boolean lieOn(int pages) {
            int status = TfLiteNative.djlplan_workspace_move(delegate, pages);
            checkState(
                    status == TfLiteNative.OK || status == TfLiteNative.MISMATCH,
                    "the pages of a workspace are lost");
            return status == TfLiteNative.OK;
        }

        @Override
        public void close() {
            TfLiteNative.djlplan_delegate_delete(delegate);
            packed.ifPresent(PackedWeights.Share::close);
        }
    }
}
