package org.djlplan.memplan.internal.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MegabytesTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 bytes, 0 bytes",
        "64, 64 bytes, 64 bytes",
        "1024, 2 KB, 2 KB",
        "99999, 100 KB, 100 KB",
        "100000, 0.1 MB, 0.1 MB",
        "64000000, 64.0 MB, 64.0 MB",
        "64010000, 64.0 MB, 64.1 MB",
        "64060000, 64.1 MB, 64.1 MB"
    })
    void of_sizes_neverHidesSmallOnes(long bytes, String rounded, String atLeast) {
        assertEquals(rounded, Megabytes.of(bytes));
        assertEquals(atLeast, Megabytes.atLeast(bytes));
    }
}
