package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.report.PoolReport;
import org.junit.jupiter.api.Test;

class SharedPoolsTest {

    @Test
    void report_waitForEachResource_isCountedUnderItsCause() {
        for (PoolReport.Cause cause : PoolReport.Cause.values()) {
            PoolReport before = SharedPools.report();
            Waits.add(cause, 7);
            PoolReport after = SharedPools.report();
            assertEquals(before.waits(cause).count() + 1, after.waits(cause).count());
            assertEquals(before.waits(cause).nanos() + 7, after.waits(cause).nanos());
            assertEquals(before.waits().count() + 1, after.waits().count());
            assertEquals(before.waits().nanos() + 7, after.waits().nanos());
        }
    }
}
