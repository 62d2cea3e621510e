package org.djlplan.memplan.internal.runtime.torch;

/**
 * The libtorch settings of a thread that affect a forward pass: the number of threads per operator,
 * whether gradients are recorded, and whether the TorchScript executor optimizes. A pass on another
 * thread than its caller's uses the caller's settings.
 *
 * @param packed the settings in the format of {@code djlplan.h}; −1 if the layout of libtorch is
 *     unknown
 */
public record TorchSettings(long packed) {

    private static final long THREADS = 0xFFFF_FFFFL;
    private static final long GRAD = 1L << 32;

    /** Returns this thread's settings. The allocator must be attached. */
    public static TorchSettings current() {
        return new TorchSettings(TorchNative.djlplan_torch_settings());
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

    /** Returns how many threads work on an operator, −1 if that is unknown. */
    public int threads() {
        return packed < 0 ? -1 : (int) (packed & THREADS);
    }
}
