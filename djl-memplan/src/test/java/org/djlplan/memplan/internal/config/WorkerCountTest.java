package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.djlplan.memplan.internal.machine.Machine;
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
    void forThreads_fixedNumber_ignoresEngineThreads() {
        assertEquals(7, new WorkerCount(7).forThreads(4));
        assertFalse(new WorkerCount(7).isAuto());
        assertTrue(new WorkerCount(0).isOff());
    }

    @Test
    void interpreters_fixedNumber_matchIt() {
        int many = 3 * CORES;
        assertEquals(many, new WorkerCount(many).interpreters());
        for (int fixed : new int[] {WorkerCount.AUTO, 0}) {
            assertEquals(CORES, new WorkerCount(fixed).interpreters());
        }
        assertThrows(IllegalArgumentException.class, () -> new WorkerCount(-2));
    }

    @Test
    void passes_ofTensorFlowLite_areAtMostItsInterpreters() {
        assertEquals(0, new WorkerCount(0).passes(1));
        assertEquals(3, new WorkerCount(3).passes(1));
        assertEquals(CORES, new WorkerCount(WorkerCount.AUTO).passes(1));
    }
}
