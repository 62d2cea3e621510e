package org.djlplan.memplan.internal.runtime.tflite;

import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.machine.Machine;

/**
 * The packed weights of one model, which XNNPACK packs once for all delegates with the same
 * operators. Each delegate has its own workspace and threads, so that several delegates can run at
 * once. The first delegate packs the shared weights; delegates created before it has finished pack
 * their own.
 */
final class PackedWeights {

    private static final long MOST_PADDING_BYTES = 16 << 20;

    private static final AtomicLong PACKED_BYTES = new AtomicLong();

    private final long mostBytes;
    private final Map<SortedSet<Integer>, Packed> byOperators = new HashMap<>();

    private static final class Packed {
        private final Pointer handle;
        private long bytes;
        private int users;
        private boolean finished;
        private boolean refused;

        Packed(Pointer handle) {
            this.handle = handle;
        }
    }

    /** Returns the bytes of all models' packed weights that interpreters may share. */
    static long bytesOfAll() {
        return PACKED_BYTES.get();
    }

    /** Creates the set of a model's packed weights, initially empty. */
    PackedWeights(Graph model) {
        long constantBytes = 0;
        for (Tensor tensor : model.tensors()) {
            constantBytes += tensor.storage() == Storage.CONSTANT ? tensor.bytes() : 0;
        }
        mostBytes = MOST_PADDING_BYTES + Delegates.MOST_PACKED_PER_BYTE * constantBytes;
    }

    /**
     * Returns a use of the packed weights of some operators. The caller's delegate packs them if no
     * other has. Empty while another delegate packs them, or if they cannot be shared. To be called
     * only while the native methods are bound.
     */
    synchronized Optional<Share> share(SortedSet<Integer> operators) {
        Packed packed = byOperators.get(operators);
        if (packed == null) {
            // The cache reserves addresses for the maximum size.
            if (new Machine().addressSpaceHeadroomBytes().isPresent()) {
                return Optional.empty();
            }
            Pointer handle = TfLiteNative.djlplan_packed_create(mostBytes);
            if (handle == null) {
                return Optional.empty();
            }
            packed = new Packed(handle);
            byOperators.put(operators, packed);
        } else if (!packed.finished || packed.refused) {
            return Optional.empty();
        }
        packed.users++;
        return Optional.of(new Share(operators, packed));
    }

    /** The use of packed weights by one delegate, from before its creation until it is freed. */
    final class Share implements AutoCloseable {

        private final SortedSet<Integer> operators;
        private final Packed packed;
        private final boolean found;

        private Share(SortedSet<Integer> operators, Packed packed) {
            this.operators = operators;
            this.packed = packed;
            found = packed.finished;
        }

        Pointer handle() {
            return packed.handle;
        }

        /** Returns whether another delegate had packed them. */
        boolean found() {
            return found;
        }

        /**
         * Lets other delegates use them. To be called on the thread on which the delegate took its
         * operators, after that and before the session's tensors are allocated.
         */
        void finish() throws UnplannableException {
            synchronized (PackedWeights.this) {
                if (found) {
                    return;
                }
                long[] bytes = new long[1];
                if (TfLiteNative.djlplan_packed_finish(packed.handle, bytes) != TfLiteNative.OK) {
                    throw new UnplannableException("XNNPACK could not keep its packed weights");
                }
                packed.finished = true;
                packed.bytes = bytes[0];
                PACKED_BYTES.addAndGet(packed.bytes);
            }
        }

        /** Stops sharing these weights, because a delegate did not find all of its weights. */
        void refuse() {
            synchronized (PackedWeights.this) {
                packed.refused = true;
            }
        }

        @Override
        public void close() {
            synchronized (PackedWeights.this) {
                packed.users--;
                if (packed.users == 0) {
                    byOperators.remove(operators);
                    TfLiteNative.djlplan_packed_delete(packed.handle);
                    PACKED_BYTES.addAndGet(-packed.bytes);
                }
            }
        }
    }
}
