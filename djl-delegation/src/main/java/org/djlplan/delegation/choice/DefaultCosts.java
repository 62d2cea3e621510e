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
    private static final double KERNEL_NANOS = 10_000;

    /** Tensors between kernels lie apart, so that they come through the caches once more. */
    private static final double CROSSING_NANOS = 0.1;

    /**
     * Nanoseconds per unit of {@link org.djlplan.delegation.partition.Work} with one thread.
     *
     * @param cpu in the CPU kernels
     * @param delegate in a delegate kernel
     */
    private record Pair(double cpu, double delegate) {}

    private static final Pair OTHER = new Pair(.15, .05);

    /** Of operators on other types than 32-bit floats: the CPU kernels are hand-written, too. */
    private static final Pair QUANTIZED = new Pair(.10, .06);

    private static final ImmutableMap<String, Pair> OPERATORS =
            ImmutableMap.<String, Pair>builder()
                    .put("CONV_2D", new Pair(.20, .045))
                    .put("DEPTHWISE_CONV_2D", new Pair(.40, .06))
                    .put("TRANSPOSE_CONV", new Pair(.40, .06))
                    // Weights are read once, so that memory is the limit of either.
                    .put("FULLY_CONNECTED", new Pair(.06, .04))
                    .put("BATCH_MATMUL", new Pair(.20, .08))
                    .put("PRELU", new Pair(.60, .05))
                    .put("AVERAGE_POOL_2D", new Pair(.25, .06))
                    .put("MAX_POOL_2D", new Pair(.25, .06))
                    .put("MEAN", new Pair(.25, .06))
                    .put("RESIZE_BILINEAR", new Pair(.50, .08))
                    .put("HARD_SWISH", new Pair(.30, .06))
                    .put("LOGISTIC", new Pair(.40, .15))
                    .put("TANH", new Pair(.40, .15))
                    .put("SOFTMAX", new Pair(.40, .20))
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
        // The delegate spreads its work better: with two threads 1.6 times as fast, against 1.3.
        return key.kind() == Kind.CPU
                ? pair.cpu() / Math.pow(threads, .4)
                : pair.delegate() / Math.pow(threads, .7);
    }
}
