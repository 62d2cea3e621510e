package org.djlplan.memplan.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.djlplan.memplan.machine.Machine;
import org.junit.jupiter.api.Test;

class WorkerCountTest {

    private static final int CORES = Machine.cores();

    @Test
    void forThreads_auto_keepsTheCoresBusyAndIsAtLeastOne() {
        WorkerCount auto = new WorkerCount(WorkerCount.AUTO);
        assertEquals(CORES, auto.forThreads(1));
        assertEquals(CORES, auto.forThreads(-1));
        assertEquals(2, auto.forThreads(100 * CORES));
        assertEquals(Math.max(1, CORES / 2) + 1, auto.forThreads(2));
        assertTrue(auto.isAuto() && !auto.isOff());
    }

    @Test
    void forThreads_number_isThatNumberWhateverTheEngineDoes() {
        assertEquals(7, new WorkerCount(7).forThreads(4));
        assertFalse(new WorkerCount(7).isAuto());
        assertTrue(new WorkerCount(0).isOff());
    }

    @Test
    void atMost_severalLimits_theSmallestCounts() {
        WorkerCount limited = new WorkerCount(7).atMost(5).atMost(6);
        assertEquals(5, limited.forThreads(1));
        assertEquals(1, new WorkerCount(WorkerCount.AUTO).atMost(1).forThreads(7));
        assertThrows(IllegalArgumentException.class, () -> limited.atMost(0));
        assertThrows(IllegalArgumentException.class, () -> new WorkerCount(-2));
    }
}
