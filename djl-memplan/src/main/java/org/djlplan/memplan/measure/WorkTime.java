package org.djlplan.memplan.measure;

import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.machine.Machine;
import org.djlplan.memplan.runtime.GuestProcess;

/**
 * The time that measuring processes worked which give way to others, without that in which they
 * waited for a processor; and the rests after it, where a control group allows only so much
 * processor time: least priority does not help there, as what the process takes is missing to the
 * application.
 */
final class WorkTime {

    /** Of a group's processor time that measuring may take while the group needs all of it. */
    private static final double SHARE = 0.05;

    /** However long a process waited, a little of the time counts: no measuring is endless. */
    private static final double LEAST = 0.002;

    private static final long LONGEST_REST_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final Machine machine;
    private long nanos;

    WorkTime(Machine machine) {
        this.machine = machine;
    }

    /** Work that has begun. */
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
         * Ends it, and rests if the application needed the time.
         *
         * @return which part of the time the process was not delayed by others
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

    /** Returns how long processes worked. */
    long nanos() {
        return nanos;
    }
}
