package org.djlplan.memplan.internal.runtime.torch;

import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * The libtorch settings of a thread that affect a forward pass: the number of threads per operator,
 * whether gradients are recorded, and whether the TorchScript executor optimizes. A pass on another
 * thread than its caller's uses the caller's settings.
 *
 * @param packed the settings in the format of {@code djlplan.h}; −1 if the layout of libtorch is
 *     unknown
 */
public record TorchSettings(long packed) {

    private static final long GRAD = 1L << 32;

    /**
     * Returns this thread's settings without the number of threads, so that applying them leaves it
     * unchanged. The allocator must be attached.
     */
    public static TorchSettings current() {
        return new TorchSettings(TorchNative.djlplan_torch_settings());
    }

    /**
     * Returns this thread's settings for another thread. Applies libtorch's number of threads to
     * this thread, which libtorch itself does only when an operator first asks for it.
     */
    public static TorchSettings forWorker() {
        long others = TorchNative.djlplan_torch_settings();
        int threads = TorchNative.djlplan_torch_threads(1);
        return new TorchSettings(others < 0 ? others : others | threads);
    }

    /**
     * Returns how many threads work on an operator that is called on this thread, −1 if unknown.
     */
    static int threads() {
        return TorchNative.djlplan_torch_threads(0);
    }

    /**
     * Returns how many threads work on an operator by libtorch's setting, −1 if that is unknown.
     * Reads it on a thread of its own, because reading applies it.
     */
    public static int threadsBySetting() {
        AtomicInteger threads = new AtomicInteger(-1);
        Thread reader =
                DaemonThreads.make(
                        () -> threads.set(TorchNative.djlplan_torch_threads(1)),
                        "djl-plan-torch-threads");
        reader.start();
        Uninterruptibles.joinUninterruptibly(reader);
        return threads.get();
    }

    /** Applies these settings to this thread. */
    public void install() {
        TorchNative.djlplan_torch_set_settings(packed);
    }

    /**
     * Returns whether gradients are recorded, which keeps alive every intermediate that they need.
     * DJL's engine turns this off only on the thread that initialises it.
     */
    public boolean recordsGradients() {
        return packed >= 0 && (packed & GRAD) != 0;
    }

    /** Returns these settings without recording of gradients. */
    public TorchSettings withoutGradients() {
        return packed < 0 ? this : new TorchSettings(packed & ~GRAD);
    }
}
