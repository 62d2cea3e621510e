package org.djlplan.memplan.internal.runtime;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.internal.budget.Schedule;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Weights that are loaded from a file into the stream's own arena while a model runs. A stream must
 * not be changed or closed during an inference.
 */
public final class WeightStream implements AutoCloseable {

    /** Bytes of a {@code struct djlplan_load}, and the offsets of its members. */
    private static final int LOAD_BYTES = 32;

    private static final int MESSAGE_BYTES = 512;

    private static final int OK = 0;
    private static final int MISMATCH = 2;

    private final NativeLoader.Use use;
    private Pointer handle;

    /** The functions of {@code stream.c}; {@code djlplan.h} is their documentation. */
    private static final class Functions {

        static native Pointer djlplan_stream_open(
                String path, int io, byte[] message, long messageBytes);

        static native void djlplan_stream_close(Pointer stream);

        static native int djlplan_stream_io(Pointer stream);

        static native int djlplan_stream_schedule(
                Pointer stream,
                Pointer loads,
                int loadCount,
                int[] needs,
                int steps,
                long arenaBytes);

        static native void djlplan_stream_release(Pointer stream);

        static native void djlplan_stream_counters(Pointer stream, long[] out);
    }

    /** How a piece is loaded from the file; ordinals as in {@code djlplan.h}. */
    public enum Io {
        /** Copied from the page cache. */
        CACHED,
        /**
         * Pages of the page cache are mapped into the arena; the model's threads pay for page
         * faults.
         */
        MMAP,
        /** Read past the page cache. */
        DIRECT,
        /** Copied from the page cache, and dropped from it. */
        DROPPED
    }

    /**
     * Figures of the last inference.
     *
     * @param stalledNanos nanoseconds that steps waited for loads
     * @param loadedBytes bytes that were loaded
     * @param loadedNanos nanoseconds that these loads took
     */
    public record Counters(long stalledNanos, long loadedBytes, long loadedNanos) {}

    private WeightStream(Pointer handle, NativeLoader.Use use) {
        this.handle = handle;
        this.use = use;
    }

    /**
     * Opens a file of weights, which must not change in place.
     *
     * @param io how to load pieces, if the file system allows it
     * @throws IOException if the file cannot be opened
     */
    public static WeightStream open(Path file, Io io)
            throws IOException, UnsupportedPlatformException {
        NativeLoader.Use use = NativeLoader.use(Functions.class);
        byte[] message = new byte[MESSAGE_BYTES];
        Pointer handle =
                Functions.djlplan_stream_open(
                        file.toString(), io.ordinal(), message, message.length);
        if (handle == null) {
            use.close();
            throw new IOException(Native.toString(message));
        }
        return new WeightStream(handle, use);
    }

    /** Returns the native stream. */
    public Pointer handle() {
        checkState(handle != null, "the stream is closed");
        return handle;
    }

    /** Returns how pieces are loaded. */
    public Io io() {
        return Io.values()[Functions.djlplan_stream_io(handle())];
    }

    /**
     * Sets the schedule, and replaces the arena by one of the schedule's size.
     *
     * @throws NoArenaException if there is no memory
     * @throws IllegalArgumentException if the schedule reaches outside of the file or the arena, or
     *     would wait for ever; then nothing has changed
     */
    public void schedule(Schedule schedule) {
        List<Schedule.Load> loads = schedule.loads();
        try (Memory native32 = new Memory((long) LOAD_BYTES * Math.max(1, loads.size()))) {
            for (int i = 0; i < loads.size(); i++) {
                Schedule.Load load = loads.get(i);
                long at = (long) LOAD_BYTES * i;
                native32.setLong(at, load.fileOffsetBytes());
                native32.setLong(at + 8, load.bytes());
                native32.setLong(at + 16, load.offsetBytes());
                native32.setInt(at + 24, load.after());
                native32.setInt(at + 28, load.pinned() ? 1 : 0);
            }
            int status =
                    Functions.djlplan_stream_schedule(
                            handle(),
                            native32,
                            loads.size(),
                            Ints.toArray(schedule.needs()),
                            schedule.needs().size(),
                            schedule.arenaBytes());
            if (status == MISMATCH) {
                throw new IllegalArgumentException("the schedule does not fit the file");
            }
            if (status != OK) {
                throw new NoArenaException(
                        "no memory for an arena of " + schedule.arenaBytes() + " bytes");
            }
        }
    }

    /** Returns the arena's memory to the system until the next inference. */
    public void release() {
        Functions.djlplan_stream_release(handle());
    }

    /** Returns the figures of the last inference. */
    public Counters counters() {
        long[] values = new long[3];
        Functions.djlplan_stream_counters(handle(), values);
        return new Counters(values[0], values[1], values[2]);
    }

    @Override
    public void close() {
        if (handle != null) {
            Functions.djlplan_stream_close(handle);
            handle = null;
            use.close();
        }
    }
}
