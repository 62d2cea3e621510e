package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ContainerSizeTest {

    private static final long MIB = 1L << 20;

    private final ContainerSize size = ContainerSize.of(100 * MIB, 256 * MIB, 44 * MIB);

    @Test
    void of_parts_hasATwentiethInReserve() {
        assertEquals(420 * MIB, size.limitBytes());
    }

    @Test
    void of_oddBytes_isRoundedUpToWholeMebibytes() {
        assertEquals(421 * MIB, ContainerSize.of(100 * MIB + 1, 256 * MIB, 44 * MIB).limitBytes());
    }

    @Test
    void settings_everyPlatform_areInItsUnits() {
        assertEquals("420Mi", size.settings().kubernetesLimit());
        assertEquals("-Xmx256m", size.settings().heapOption());
        assertEquals("-XX:MaxRAM=1024m", size.settings().maxRamOption().orElseThrow());
        assertEquals("164m", size.settings().sparkMemoryOverhead());
        assertEquals(47, size.settings().requiredMemoryMb());
    }

    /** A JVM takes half of 200 MiB. */
    @Test
    void maxRam_heapTooSmallForAQuarter_isEmpty() {
        assertEquals(
                "-XX:MaxRAM=512m",
                ContainerSize.of(MIB, 128 * MIB, MIB).settings().maxRamOption().orElseThrow());
        ContainerSize little = ContainerSize.of(MIB, 100 * MIB, MIB);
        assertTrue(little.settings().maxRamOption().isEmpty());
        assertEquals("-Xmx100m", little.settings().heapOption());
    }

    @Test
    void larger_again_growsByATwentiethEachTime() {
        assertEquals(441 * MIB, size.larger().limitBytes());
        assertEquals(464 * MIB, size.larger().larger().limitBytes());
        assertEquals(size.modelBytes(), size.larger().modelBytes());
    }

    @Test
    void size_withoutAHeap_isAnError() {
        assertThrows(IllegalArgumentException.class, () -> ContainerSize.of(MIB, 0, MIB));
    }
}
