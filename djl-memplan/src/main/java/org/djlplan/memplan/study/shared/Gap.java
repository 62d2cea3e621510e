package org.djlplan.memplan.study.shared;

import org.djlplan.memplan.usage.UsageRecord;

/**
 * A time in which an object is free.
 *
 * @param object number of the object
 * @param after last operator before it at which the object is in use; −1 if there is none
 * @param before first operator after it at which the object is in use; {@link #NEVER} if there is
 *     none
 */
record Gap(int object, long after, long before) {

    static final long NEVER = Integer.MAX_VALUE + 1L;

    /** Returns the time before {@code unit}, which lies in this gap. */
    Gap beforeUnit(UsageRecord unit) {
        return new Gap(object, after, unit.first());
    }

    /** Returns the time after {@code unit}, which lies in this gap. */
    Gap afterUnit(UsageRecord unit) {
        return new Gap(object, unit.last(), before);
    }
}
