package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
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
        assertEquals("420Mi", size.kubernetes());
        assertEquals("-Xmx256m", size.heap());
        assertEquals("-XX:MaxRAM=1024m", size.maxRam().orElseThrow());
        assertEquals("164m", size.sparkOverhead());
        assertEquals(47, size.requiredMebibytes());
    }

    /** A JVM takes half of 200 MiB. */
    @Test
    void maxRam_heapTooSmallForAQuarter_isEmpty() {
        assertEquals(
                "-XX:MaxRAM=512m", ContainerSize.of(MIB, 128 * MIB, MIB).maxRam().orElseThrow());
        ContainerSize little = ContainerSize.of(MIB, 100 * MIB, MIB);
        assertTrue(little.maxRam().isEmpty());
        assertTrue(little.toJson().get("maxRamOption").isJsonNull());
        assertEquals("-Xmx100m", little.heap());
    }

    @Test
    void larger_again_growsByATwentiethEachTime() {
        assertEquals(441 * MIB, size.larger().limitBytes());
        assertEquals(464 * MIB, size.larger().larger().limitBytes());
        assertEquals(size.modelBytes(), size.larger().modelBytes());
    }

    @Test
    void toJson_all_hasBytesAndSettings() {
        JsonObject json = size.toJson();
        assertEquals(420 * MIB, json.get("limitBytes").getAsLong());
        assertEquals("164m", json.get("sparkMemoryOverhead").getAsString());
        assertEquals(47, json.get("requiredMemoryMb").getAsInt());
    }

    @Test
    void size_withoutAHeap_isAnError() {
        assertThrows(IllegalArgumentException.class, () -> ContainerSize.of(MIB, 0, MIB));
    }
}
