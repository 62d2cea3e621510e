package org.djlplan.memplan.internal.config;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.machine.MemoryRoom;

/**
 * Resolves the budget of one model to bytes. {@link Budget.Auto} follows the container: its limit
 * minus the memory that its other processes use, the possible growth of the heap, and a twentieth
 * of the limit as a reserve. The budget changes only if the new result differs by more than a
 * tenth, because each change costs a plan.
 */
public final class BudgetResolver {

    private static final double HYSTERESIS = .1;

    /** Denominator of the fraction of the limit that stays free. */
    private static final int RESERVED = 20;

    /** Reading the machine's state takes some tenths of a millisecond. */
    private static final long LOOK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Budget budget;
    private final long stockBytes;
    private final Supplier<MemoryRoom> machine;
    private final LongSupplier nanoTime;

    /** The current budget of {@code auto}; 0 before the first. */
    private volatile long inForceBytes;

    private long lookedNanos; // guarded by this

    /**
     * @param budget as written by the user
     * @param stockBytes memory of the stock engine for the model above the idle runtime; used only
     *     for a percentage
     */
    public BudgetResolver(Budget budget, long stockBytes) {
        this(budget, stockBytes, new Machine()::memoryRoom, System::nanoTime);
    }

    /**
     * Creates a resolver with another machine and clock, for tests.
     *
     * @param machine read again each time
     * @param nanoTime as {@link System#nanoTime}
     */
    public BudgetResolver(
            Budget budget, long stockBytes, Supplier<MemoryRoom> machine, LongSupplier nanoTime) {
        checkArgument(stockBytes > 0, "stock takes %s bytes", stockBytes);
        this.budget = budget;
        this.stockBytes = stockBytes;
        this.machine = machine;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the current budget as {@link #bytes(LongSupplier)} does.
     *
     * @param takenBytes memory of the container that the model itself uses now
     */
    public long bytes(long takenBytes) {
        return bytes(() -> takenBytes);
    }

    /**
     * Returns the current budget; {@link Long#MAX_VALUE} for no limit. Cheap enough for each
     * prediction, because the machine is read at most once a second.
     *
     * @param takenBytes memory of the container that the model itself uses now, including its
     *     mapped weights; it does not count as used by others. Called only when the machine is
     *     read, without a lock.
     */
    public long bytes(LongSupplier takenBytes) {
        if (budget instanceof Budget.Bytes given) {
            return given.bytes();
        }
        if (budget instanceof Budget.ShareOfStock given) {
            return Math.max(1, (long) (given.share() * stockBytes));
        }
        return budget instanceof Budget.Auto ? followed(takenBytes) : Long.MAX_VALUE;
    }

    private long followed(LongSupplier takenBytes) {
        if (beginLook()) {
            long taken = takenBytes.getAsLong();
            long bytes = left(machine.get(), taken);
            synchronized (this) {
                if (Math.abs(bytes - inForceBytes) > HYSTERESIS * inForceBytes) {
                    inForceBytes = bytes;
                }
            }
        }
        return inForceBytes;
    }

    /** Returns whether the caller is the one to read the machine. */
    private synchronized boolean beginLook() {
        long now = nanoTime.getAsLong();
        boolean due = inForceBytes == 0 || now - lookedNanos >= LOOK_EVERY_NANOS;
        lookedNanos = due ? now : lookedNanos;
        return due;
    }

    private static long left(MemoryRoom room, long takenBytes) {
        return Math.max(
                1,
                room.freeBytes()
                        + takenBytes
                        - room.heapGrowthBytes()
                        - room.limitBytes() / RESERVED);
    }
}
