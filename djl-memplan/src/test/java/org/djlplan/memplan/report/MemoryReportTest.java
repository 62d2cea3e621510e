package org.djlplan.memplan.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MemoryReportTest {

    private static String end(long residentBytes, long restBytes) {
        MemoryReport report =
                new MemoryReport(residentBytes, 50_049_999, 0, 0, 0, 0, 0, 0, 0, restBytes);
        return report.toString().replaceFirst(".*(, files)", "$1");
    }

    @Test
    void toString_partsThatAreNotInMemory_areNoNegativeRest() {
        assertEquals(", files 0.0, rest 1.3", end(51_300_000, 1_250_001));
        assertEquals(
                ", files 0.0; 48.8 MB of these parts are not in memory",
                end(1_249_999, -48_800_000));
    }
}
