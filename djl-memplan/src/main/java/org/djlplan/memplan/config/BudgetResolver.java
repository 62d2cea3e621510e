package org.djlplan.memplan.config;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.machine.Machine;
import org.djlplan.memplan.machine.MemoryRoom;

/**
 * What the budget of one model comes to in bytes. {@link Budget.Auto} follows the container: its
 * limit without what others use in it, what the heap may still grow by, and a twentieth of the
 * limit, which stays free for what nobody foresees. It moves only when that differs from the budget
 * in force by more than a tenth, as each move costs a plan.
 */
public final class BudgetResolver {

    private static final double HYSTERESIS = .1;

    /** One part in so many of the limit stays free. */
    private static final int RESERVED = 20;

    /** Looking costs some tenths of a millisecond. */
    private static final long LOOK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Budget budget;
    private final long stockBytes;
    private final Supplier<MemoryRoom> machine;
    private final LongSupplier nanoTime;

    /** Of {@code auto}: the budget in force; 0 before the first. */
    private long inForceBytes;

    private long lookedNanos;

    /**
     * @param budget as the user wrote it
     * @param stockBytes what the stock engine takes for the model above the idle runtime; only a
     *     share of it asks for that
     */
    public BudgetResolver(Budget budget, long stockBytes) {
        this(budget, stockBytes, new Machine()::memoryRoom, System::nanoTime);
    }

    /**
     * With a machine and a clock of their own, for tests.
     *
     * @param machine looked at anew each time
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
     * Returns what the budget is now; {@link Long#MAX_VALUE} for no limit. Cheap enough for each
     * prediction: the machine is looked at once in a second at most.
     *
     * @param takenBytes how much of the container the model itself has in use now, its weights that
     *     are mapped included; not counted as used by others
     */
    public long bytes(long takenBytes) {
        if (budget instanceof Budget.Bytes given) {
            return given.bytes();
        }
        if (budget instanceof Budget.ShareOfStock given) {
            return Math.max(1, (long) (given.share() * stockBytes));
        }
        return budget instanceof Budget.Auto ? followed(takenBytes) : Long.MAX_VALUE;
    }

    private synchronized long followed(long takenBytes) {
        long now = nanoTime.getAsLong();
        if (inForceBytes == 0 || now - lookedNanos >= LOOK_EVERY_NANOS) {
            lookedNanos = now;
            long bytes = left(machine.get(), takenBytes);
            if (Math.abs(bytes - inForceBytes) > HYSTERESIS * inForceBytes) {
                inForceBytes = bytes;
            }
        }
        return inForceBytes;
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
