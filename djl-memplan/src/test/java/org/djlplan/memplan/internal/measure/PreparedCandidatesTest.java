package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.junit.jupiter.api.Test;

class PreparedCandidatesTest {

    private static final Candidate CPU = Candidate.cpu(1);
    private static final Trial FIRST = new Trial(0, List.of(), 100, 2);
    private static final Trial AGAIN = new Trial(0, List.of(), 200, 2);

    private final PreparedCandidates candidates = new PreparedCandidates();

    @Test
    void add_inANewProcess_keepsTheFirstResult() {
        assertEquals(FIRST, candidates.add(CPU, FIRST, 10));
        candidates.forgetProcess();
        assertFalse(candidates.isInProcess(CPU));
        assertEquals(0, candidates.countInProcess());
        assertEquals(Optional.of(FIRST), candidates.trial(CPU));
        assertEquals(FIRST, candidates.add(CPU, AGAIN, 10));
        assertTrue(candidates.isInProcess(CPU));
    }

    @Test
    void slowestNanos_severalInferences_isTheLongest() {
        candidates.add(CPU, FIRST, 10);
        candidates.noteInference(CPU, 30);
        candidates.noteInference(CPU, 20);
        assertEquals(30, candidates.slowestNanos(CPU));
    }

    @Test
    void forget_candidate_isAsIfItHadNeverBeenPrepared() {
        candidates.add(CPU, FIRST, 10);
        candidates.noteInference(CPU, 30);
        candidates.forget(CPU);
        assertEquals(Optional.empty(), candidates.trial(CPU));
        assertFalse(candidates.isInProcess(CPU));
        assertEquals(AGAIN, candidates.add(CPU, AGAIN, 10));
        assertEquals(10, candidates.slowestNanos(CPU));
    }
}
