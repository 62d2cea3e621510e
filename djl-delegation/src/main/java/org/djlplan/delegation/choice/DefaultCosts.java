package org.djlplan.delegation.choice;

import com.google.common.collect.ImmutableMap;
import org.djlplan.delegation.choice.CostKey.Kind;

/**
 * Typical costs, used where nothing was measured yet: the order of magnitude on a desktop core of
 * TensorFlow Lite 2.6's CPU kernels and of its XNNPACK delegate. Only ratios matter for the choice,
 * and all are corrected together as soon as some were measured.
 */
final class DefaultCosts {

    /** Of waking the delegate's threads and handing it the tensors. */
    private static final double KERNEL_NANOS = 5_000;

    /** Tensors between kernels lie apart, so that they come through the caches once more. */
    private static final double CROSSING_NANOS = 0.05;

    /**
     * Nanoseconds per unit of {@link org.djlplan.delegation.partition.Work} with one thread.
     *
     * @param cpu in the CPU kernels
     * @param delegate in a delegate kernel
     */
    private record Pair(double cpu, double delegate) {}

    private static final Pair OTHER = new Pair(.04, .013);

    /** Of operators on other types than 32-bit floats: the CPU kernels are hand-written, too. */
    private static final Pair QUANTIZED = new Pair(.025, .015);

    private static final ImmutableMap<String, Pair> OPERATORS =
            ImmutableMap.<String, Pair>builder()
                    .put("CONV_2D", new Pair(.045, .012))
                    .put("DEPTHWISE_CONV_2D", new Pair(.20, .012))
                    .put("TRANSPOSE_CONV", new Pair(.10, .015))
                    // Weights are read once, so that memory is the limit of either.
                    .put("FULLY_CONNECTED", new Pair(.015, .010))
                    .put("BATCH_MATMUL", new Pair(.05, .02))
                    .put("PRELU", new Pair(.40, .013))
                    .put("AVERAGE_POOL_2D", new Pair(.06, .015))
                    .put("MAX_POOL_2D", new Pair(.06, .015))
                    .put("MEAN", new Pair(.06, .015))
                    .put("RESIZE_BILINEAR", new Pair(.12, .02))
                    .put("HARD_SWISH", new Pair(.08, .015))
                    .put("LOGISTIC", new Pair(.10, .04))
                    .put("TANH", new Pair(.10, .04))
                    .put("SOFTMAX", new Pair(.10, .05))
                    .buildOrThrow();

    private DefaultCosts() {}

    /** Returns nanoseconds per unit of work, kernel or byte; more than 0. */
    static double nanos(CostKey key) {
        if (key.kind() == Kind.KERNEL) {
            return KERNEL_NANOS;
        }
        if (key.kind() == Kind.CROSSING) {
            return CROSSING_NANOS;
        }
        Pair pair =
                OPERATORS.getOrDefault(
                        key.operator(), key.operator().contains(":INT") ? QUANTIZED : OTHER);
        int threads = Math.max(1, key.threads());
        // The delegate spreads its work better: with two threads 1.7 times as fast, against 1.4.
        return key.kind() == Kind.CPU
                ? pair.cpu() / Math.pow(threads, .5)
                : pair.delegate() / Math.pow(threads, .75);
    }
}
