package org.djlplan.memplan.internal.slicing;

import java.util.List;

/**
 * Decides which slices let the engine's kernels compute the same bits as without slicing.
 *
 * <p>All kernels multiply matrices with Eigen: {@code m} output channels times {@code n} places,
 * sums of {@code k} products. Sums are rounded equally if they are split into the same runs and if
 * an output channel takes the same path through the innermost kernel, which handles {@value
 * #CHANNELS} channels at once and the rest differently. Determined from TensorFlow Lite 2.6.2 for
 * x86-64, and from Eigen's {@code GeneralBlockPanelKernel.h} and {@code
 * TensorContractionThreadPool.h}:
 *
 * <ul>
 *   <li>One thread, and fully connected layers with any number of threads: the runs depend on
 *       {@code k} only, so slices of whole groups of channels preserve bits. Slices of rows
 *       preserve bits if no channels are left over, or if the places are whole groups of {@value
 *       #PLACES}.
 *   <li>More threads: the runs are shorter than with one if there is work for more than one thread,
 *       and blocks of channels are whole groups if the places are divided among threads.
 * </ul>
 */
final class KernelBits {

    /** Output channels that the innermost kernel handles at once. */
    static final int CHANNELS = 8;

    /** Places that the innermost kernel handles at once. */
    static final int PLACES = 4;

    /** The longest run of products with several threads. */
    private static final int LONGEST_RUN = 320;

    /** Minimum cost of an output with at least {@link #LONGEST_RUN} products, in Eigen's cycles. */
    private static final double CYCLES_PER_OUTPUT = 80;

    /** Cycles from which on Eigen uses another thread. */
    private static final double CYCLES_PER_THREAD = 100_000;

    private KernelBits() {}

    /** Returns whether slices along output channels preserve bits. */
    static boolean keptByChannels(Layer layer, List<Integer> slices, int threads) {
        if (slices.size() == 1) {
            return true;
        }
        List<Integer> allButLast = slices.subList(0, slices.size() - 1);
        if (!allButLast.stream().allMatch(size -> size % CHANNELS == 0)
                || slices.get(slices.size() - 1) < CHANNELS) {
            return false;
        }
        return threads == 1
                || !layer.convolution()
                || (isShared(layer, layer.out().channels(), threads)
                        && slices.stream().allMatch(size -> isShared(layer, size, threads)));
    }

    /** Returns whether slices along output rows preserve bits. */
    static boolean keptByRows(Layer layer, List<Integer> slices, int threads) {
        if (slices.size() == 1) {
            return true;
        }
        return threads == 1
                && (layer.out().channels() % CHANNELS == 0
                        || slices.stream()
                                .allMatch(rows -> rows * layer.out().width() % PLACES == 0));
    }

    /**
     * Returns whether the places are divided among all threads, in blocks of whole groups of
     * channels. Otherwise channels are divided, in blocks whose size depends on the processor's
     * caches.
     */
    private static boolean isShared(Layer layer, int channels, int threads) {
        int places = layer.out().places();
        return channels % CHANNELS == 0
                && places >= 2 * PLACES
                && isSharedByPlaces(channels, places, threads)
                && (layer.depth() <= LONGEST_RUN || isWorkForAll(channels, places, threads));
    }

    /** Eigen's {@code shardByCol}, where its columns are the places. */
    private static boolean isSharedByPlaces(int channels, int places, int threads) {
        int each = places / threads;
        if (each < PLACES && channels / threads >= PLACES) {
            return false;
        }
        boolean uneven = each < 4 * PLACES && places % (threads * PLACES) != 0;
        boolean evenByChannels = channels % (threads * PLACES) == 0 || channels / places >= 6;
        if (uneven && evenByChannels) {
            return false;
        }
        return each >= 16 * PLACES || channels <= 32L * places;
    }

    /** Eigen's {@code TensorCostModel::numThreads}. */
    private static boolean isWorkForAll(int channels, int places, int threads) {
        double cycles = CYCLES_PER_OUTPUT * channels * places;
        return (cycles - CYCLES_PER_THREAD) / CYCLES_PER_THREAD + 0.9 >= threads;
    }
}
