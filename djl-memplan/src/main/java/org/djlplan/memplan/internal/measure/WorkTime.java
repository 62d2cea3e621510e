package org.djlplan.memplan.internal.measure;

import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.GuestProcess;

/**
 * Counts the working time of background measuring processes, without the time in which they waited
 * for a processor. It also inserts pauses if a control group has a quota of processor time. Low
 * priority does not help under a quota, because the measuring process uses up the application's
 * quota.
 */
final class WorkTime {

    /**
     * Fraction of a group's processor time that measuring may take while the group needs all of it.
     */
    private static final double SHARE = 0.05;

    /** This part of the waiting time also counts as work, so that measuring ends eventually. */
    private static final double LEAST = 0.002;

    private static final long LONGEST_REST_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final Machine machine;
    private long nanos;

    WorkTime(Machine machine) {
        this.machine = machine;
    }

    /** A period of work. */
    final class Stint {

        private final MeasuringChild child;
        private final GuestProcess.Times before;
        private final long throttledNanos = machine.throttledNanos();
        private final long startNanos = System.nanoTime();

        private Stint(MeasuringChild child) {
            this.child = child;
            before = child.times();
        }

        /**
         * Ends the stint, and pauses if the application needed the processor time.
         *
         * @return the fraction of the time in which the process was not delayed by others
         */
        double end() throws InterruptedException {
            long wall = Math.max(1, System.nanoTime() - startNanos);
            GuestProcess.Times after = child.times();
            double worked = 1 - (double) after.delayedNanos(before) / wall;
            double part = Math.min(1, Math.max(LEAST, worked));
            nanos += Math.round(part * wall);
            rest(after.ranNanos() - before.ranNanos(), wall);
            return part;
        }

        private void rest(long ranNanos, long wallNanos) throws InterruptedException {
            OptionalDouble quota = machine.quotaCores();
            if (quota.isPresent() && machine.throttledNanos() > throttledNanos) {
                double fair = ranNanos / (SHARE * quota.getAsDouble()) - wallNanos;
                TimeUnit.NANOSECONDS.sleep((long) Math.min(fair, (double) LONGEST_REST_NANOS));
            }
        }
    }

    Stint begin(MeasuringChild child) {
        return new Stint(child);
    }

    /** Returns how long processes have worked. */
    long nanos() {
        return nanos;
    }
}
