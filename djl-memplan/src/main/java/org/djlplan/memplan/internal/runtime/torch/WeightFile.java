package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.ResidencyPlan;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.SystemError;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The weights of one model in an unnamed file. They are written as the engine loads them, and are
 * in memory only while a prediction needs them. A weight that is used at an unexpected time is read
 * from the file, which is slow but correct.
 *
 * <p>The memory of a weight stays valid until the engine frees it, even after {@link #close}.
 */
public final class WeightFile implements AutoCloseable {

    private static final int WATCHED = 1;
    private static final int DIRECT = 2;

    private static final int AS_PLANNED = 0;
    private static final int WAITED_NANOS = 1;
    private static final int FAILED = 2;
    private static final int FIGURES = 3;

    private static final int VALUES_PER_ACTION = 3;
    private static final int VALUES_PER_TOUCH = 3;

    /** The system may map this much at once, so touching one piece does not load another. */
    private static final long PIECE_BYTES = 2 << 20;

    private final Pointer weights;
    private final long mostBytes;
    private final NativeLoader.Use use;

    /** Of the last prediction. Made in advance, because there may be no memory at its end. */
    private final long[] figures = new long[FIGURES];

    private ImmutableList<WeightTrace.Piece> pieces = ImmutableList.of();
    private OtherMemory.Before before = new OtherMemory.Before(0, 0);
    private boolean closed;

    /**
     * The result of a prediction.
     *
     * @param asPlanned whether it allocated as scheduled
     * @param waitedNanos how long it waited for loads
     * @param errno the error number of the first load that failed; 0 if none failed
     */
    record Figures(boolean asPlanned, long waitedNanos, int errno) {}

    /**
     * A weight.
     *
     * @param offsetBytes the weight's offset in the file
     * @param bytes the weight's size, rounded up to whole pages
     */
    record Block(long offsetBytes, long bytes) {}

    private WeightFile(Pointer weights, long mostBytes, NativeLoader.Use use) {
        this.weights = weights;
        this.mostBytes = mostBytes;
        this.use = use;
    }

    /**
     * Makes the file.
     *
     * @param mostBytes weights beyond this size stay in the engine's own memory
     * @throws IOException if it cannot be made, or there are no addresses to map it
     */
    public static WeightFile create(Path folder, long mostBytes) throws IOException {
        NativeLoader.Use use;
        try {
            use = TorchNative.use();
        } catch (UnsupportedPlatformException e) {
            throw new IOException(e);
        }
        int[] errno = new int[1];
        Pointer weights = TorchNative.djlplan_weights_create(folder.toString(), mostBytes, errno);
        if (weights == null) {
            use.close();
            throw new IOException(
                    "%s: no file of %d bytes can be made for the weights: %s"
                            .formatted(folder, mostBytes, SystemError.text(errno[0])));
        }
        return new WeightFile(weights, mostBytes, use);
    }

    /** Returns the size beyond which weights stay in the engine's own memory, in bytes. */
    public long mostBytes() {
        return mostBytes;
    }

    /** Places this thread's large allocations in the file until {@link #endLoad}. */
    public void beginLoad() throws IOException {
        before = OtherMemory.Before.now();
        check("weights are being loaded already", TorchNative.djlplan_weights_load(weights));
    }

    /**
     * Ends what {@link #beginLoad} began, on the same thread. Without effect on a closed file.
     *
     * @throws IOException if the file could not grow, for example because the disk is full; the
     *     other weights are then in the engine's own memory
     */
    public synchronized void endLoad() throws IOException {
        if (!closed) {
            check(
                    "the file of the weights cannot grow",
                    TorchNative.djlplan_weights_loaded(weights));
            pieces = cut();
        }
    }

    /** Ends a load that failed, on any thread. Without effect if it has ended. */
    public synchronized void abandonLoad() {
        if (!closed) {
            int unused = TorchNative.djlplan_weights_loaded(weights);
        }
    }

    /** Returns the process's memory before the weights were loaded. */
    OtherMemory.Before before() {
        return before;
    }

    /** Takes the weights out of the page cache. */
    void uncache() throws IOException {
        check("weights are not written", TorchNative.djlplan_weights_uncache(weights));
    }

    private static void check(String problem, int errno) throws IOException {
        if (errno != 0) {
            throw new IOException(problem + ": " + SystemError.text(errno));
        }
    }

    private ImmutableList<WeightTrace.Piece> cut() {
        long bytes = TorchNative.djlplan_weights_bytes(weights);
        ImmutableList.Builder<WeightTrace.Piece> all = ImmutableList.builder();
        for (long offset = 0; offset < bytes; offset += PIECE_BYTES) {
            all.add(new WeightTrace.Piece(offset, Math.min(PIECE_BYTES, bytes - offset)));
        }
        return all.build();
    }

    /** Returns the pieces in which weights come into memory. */
    List<WeightTrace.Piece> pieces() {
        return pieces;
    }

    /** Returns the size of the largest piece, in bytes. */
    long largestPieceBytes() {
        return Math.min(PIECE_BYTES, bytes());
    }

    /** Returns the size of all weights in the file, in bytes. */
    public long bytes() {
        return pieces.stream().mapToLong(WeightTrace.Piece::bytes).sum();
    }

    /** Returns the size of whole pages for so many bytes. */
    static long inPages(long bytes) {
        return (bytes + WeightUse.PAGE_BYTES - 1) / WeightUse.PAGE_BYTES * WeightUse.PAGE_BYTES;
    }

    /** Returns the position of each weight in the file, in the engine's order of allocation. */
    synchronized List<Block> blocks() {
        if (closed) {
            return List.of();
        }
        long count = TorchNative.djlplan_weights_blocks(weights, new long[0], 0);
        long[] values = new long[Ints.checkedCast(count)];
        long unused = TorchNative.djlplan_weights_blocks(weights, values, values.length);
        ImmutableList.Builder<Block> blocks = ImmutableList.builder();
        for (int i = 0; i < values.length; i += 2) {
            blocks.add(new Block(values[i], values[i + 1]));
        }
        return blocks.build();
    }

    /**
     * A plan in use by predictions. If it is closed while a prediction uses it, it is freed after
     * that prediction.
     */
    static final class Schedule implements AutoCloseable {

        private final Pointer schedule;

        private Schedule(Pointer schedule) {
            this.schedule = schedule;
        }

        @Override
        public void close() {
            TorchNative.djlplan_schedule_delete(schedule);
        }
    }

    /**
     * Passes a plan to the native library.
     *
     * @throws IllegalArgumentException if a step would wait for ever
     */
    static Schedule schedule(WeightTrace trace, ResidencyPlan plan) {
        ImmutableIntArray.Builder actions = ImmutableIntArray.builder();
        for (ResidencyPlan.Action action : plan.actions()) {
            actions.add(action.piece()).add(action.kind().ordinal()).add(action.after());
        }
        int[] values = actions.build().toArray();
        Pointer schedule =
                TorchNative.djlplan_schedule_create(
                        trace.stepBytes().toArray(),
                        plan.needs().toArray(),
                        trace.steps(),
                        values,
                        values.length / VALUES_PER_ACTION);
        if (schedule == null) {
            throw new IllegalArgumentException(
                    "the native library refuses a schedule of " + plan.actions().size() + " loads");
        }
        return new Schedule(schedule);
    }

    /**
     * Begins a prediction on this thread.
     *
     * @param schedule without one, weights leave memory at every allocation
     * @param watched without a schedule, whether the use of pieces is recorded
     * @return whether it began, because only one prediction at a time may
     */
    boolean begin(Optional<Schedule> schedule, boolean watched, boolean direct) {
        return TorchNative.djlplan_weights_begin(
                        weights,
                        schedule.map(given -> given.schedule).orElse(null),
                        (watched ? WATCHED : 0) | (direct ? DIRECT : 0))
                == 0;
    }

    /** Ends the prediction, on the same thread. */
    Figures end() {
        TorchNative.djlplan_weights_end(weights, figures);
        return new Figures(
                figures[AS_PLANNED] != 0, figures[WAITED_NANOS], Ints.checkedCast(figures[FAILED]));
    }

    /** Returns the recording of the last watched prediction; empty if it failed. */
    Optional<WeightTrace> watched() {
        long count = TorchNative.djlplan_weights_steps(weights, new long[0], 0);
        long touched = TorchNative.djlplan_weights_touches(weights, new int[0], 0);
        if (count <= 0 || touched < 0) {
            return Optional.empty();
        }
        long[] steps = new long[Ints.checkedCast(count)];
        int[] touches = new int[Ints.checkedCast(touched)];
        long unusedSteps = TorchNative.djlplan_weights_steps(weights, steps, count);
        long unusedTouches = TorchNative.djlplan_weights_touches(weights, touches, touched);
        ImmutableLongArray.Builder bytes = ImmutableLongArray.builder(steps.length / 2);
        ImmutableLongArray.Builder nanos = ImmutableLongArray.builder(steps.length / 2);
        for (int i = 0; i < steps.length; i += 2) {
            bytes.add(steps[i]);
            nanos.add(steps[i + 1]);
        }
        ImmutableList.Builder<WeightTrace.Touch> seen = ImmutableList.builder();
        for (int i = 0; i < touches.length; i += VALUES_PER_TOUCH) {
            long inMemory = touches[i + 2] * WeightUse.PAGE_BYTES;
            seen.add(new WeightTrace.Touch(touches[i], touches[i + 1], inMemory));
        }
        return Optional.of(
                WeightTrace.of(pieces, bytes.build(), nanos.build(), seen.build(), wholePieces()));
    }

    /** Returns the pieces that lie wholly in one weight, for each that has some. */
    private List<WeightTrace.Range> wholePieces() {
        ImmutableList.Builder<WeightTrace.Range> ranges = ImmutableList.builder();
        for (Block block : blocks()) {
            int first = Ints.checkedCast((block.offsetBytes() + PIECE_BYTES - 1) / PIECE_BYTES);
            int end = Ints.checkedCast((block.offsetBytes() + block.bytes()) / PIECE_BYTES);
            if (first < end) {
                ranges.add(new WeightTrace.Range(first, end - 1));
            }
        }
        return ranges.build();
    }

    /** Closes the file; weights that the engine still uses are read when they are touched. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            TorchNative.djlplan_weights_close(weights);
            use.close();
        }
    }
}
