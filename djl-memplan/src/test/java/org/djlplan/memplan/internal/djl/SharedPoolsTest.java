package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.report.PoolReport.Cause;
import org.junit.jupiter.api.Test;

class SharedPoolsTest {

    @Test
    void report_waitForEachResource_isCountedUnderItsCause() {
        for (PoolReport.Cause lack : PoolReport.Cause.values()) {
            PoolReport before = SharedPools.report();
            Waits.add(lack, 7);
            PoolReport after = SharedPools.report();
            Cause cause = Cause.valueOf(lack.name());
            assertEquals(before.waits(cause).count() + 1, after.waits(cause).count());
            assertEquals(before.waits(cause).nanos() + 7, after.waits(cause).nanos());
            assertEquals(before.waits().count() + 1, after.waits().count());
            assertEquals(before.waits().nanos() + 7, after.waits().nanos());
        }
        assertEquals(
                Arrays.stream(Cause.values()).map(Cause::name).toList(),
                Arrays.stream(PoolReport.Cause.values()).map(PoolReport.Cause::name).toList());
    }
}
