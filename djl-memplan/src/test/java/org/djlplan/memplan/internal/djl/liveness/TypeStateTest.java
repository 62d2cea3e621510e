package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.junit.jupiter.api.Test;

class TypeStateTest {

    private final TypeState state = new TypeState();

    private static LivenessTrace trace(String type, long size) {
        return new LivenessTrace(
                List.of(
                        new LivenessTrace.Array(
                                new ArrayType(type, List.of(size)), OptionalInt.empty())));
    }

    private static LivenessTrace trace(long size) {
        return trace("float32", size);
    }

    private ReplayPlan plan() {
        return state.plan().orElseThrow();
    }

    @Test
    void wantsRecording_new_untilThereIsAPlan() {
        assertTrue(state.wantsRecording());
        state.recorded(trace(1));
        assertFalse(state.wantsRecording());
        assertFalse(plan().borrowed());
        assertEquals(Optional.empty(), state.recordedIn());
    }

    @Test
    void refused_wantsNoRecording() {
        assertFalse(TypeState.refused().wantsRecording());
    }

    @Test
    void replayed_twoDivergencesInARow_recordsAgain() {
        state.recorded(trace(1));
        state.replayed(plan(), true);
        assertFalse(state.wantsRecording());
        state.replayed(plan(), true);
        assertTrue(state.wantsRecording());
    }

    @Test
    void replayed_divergencesApart_keepThePlan() {
        state.recorded(trace(1));
        for (int i = 0; i < 5; i++) {
            state.replayed(plan(), true);
            state.replayed(plan(), false);
        }
    }

    @Test
    void replayed_divergesAfterTheThirdRecording_planStays() {
        for (int i = 0; i < 3; i++) {
            assertTrue(state.wantsRecording());
            state.recorded(trace(i));
            state.replayed(plan(), true);
            state.replayed(plan(), true);
        }
        assertTrue(state.plan().isPresent());
        assertFalse(state.wantsRecording());
    }

    @Test
    void replayed_anotherPlan_saysNothingOfThisOne() {
        state.recorded(trace(1));
        ReplayPlan before = plan();
        state.recorded(trace(1));
        state.replayed(before, true);
        state.replayed(before, true);
        assertFalse(state.wantsRecording());
    }

    @Test
    void failed_thePlan_isDroppedAtOnce() {
        state.recorded(trace(1));
        ReplayPlan before = plan();
        state.recorded(trace(2));
        state.failed(before);
        assertEquals(trace(2), plan().trace());
        state.failed(plan());
        assertEquals(Optional.empty(), state.plan());
        assertTrue(state.wantsRecording());
    }

    @Test
    void wantsRecording_threePlansFailed_noMore() {
        for (int i = 0; i < 3; i++) {
            state.recorded(trace(i));
            state.failed(plan());
        }
        assertFalse(state.wantsRecording());
    }

    @Test
    void refuse_withAPlan_neitherPlanNorRecording() {
        state.recorded(trace(1));
        state.refuse();
        assertTrue(state.unrepeatable());
        assertEquals(Optional.empty(), state.plan());
        assertFalse(state.wantsRecording());
        state.borrow(trace(2));
        assertEquals(Optional.empty(), state.plan());
    }

    @Test
    void borrow_onlyWhereNothingWasRecorded() {
        state.borrow(trace(1));
        assertTrue(plan().borrowed());
        state.recorded(trace(2));
        state.borrow(trace(3));
        assertEquals(trace(2), plan().trace());
    }

    @Test
    void learnt_fromTheBorrowedPlan_becomesItsOwn() {
        state.borrow(trace(1));
        ReplayPlan borrowed = plan();
        state.learnt(borrowed, trace(8));
        assertEquals(trace(8), plan().trace());
        // This pass followed the same plan, but ends later.
        state.learnt(borrowed, trace(9));
        assertEquals(trace(8), plan().trace());
    }

    @Test
    void outdated_twice_dropsThePlan() {
        assertTrue(BlockState.of(new Object(), List.of()).isPresent());
        BlockState before = BlockState.of(new Object(), List.of()).orElseThrow();
        state.recorded(trace(1), before);
        assertEquals(Optional.of(before), state.recordedIn());
        state.outdated();
        assertTrue(state.plan().isPresent());
        state.outdated();
        assertEquals(Optional.empty(), state.plan());
    }

    @Test
    void waitsToRecord_againAndAgain_atDoublingIntervals() {
        List<Integer> waits = new ArrayList<>();
        for (int i = 1; i <= 32; i++) {
            if (state.waitsToRecord()) {
                waits.add(i);
            }
        }
        assertEquals(List.of(1, 3, 7, 15, 31), waits);
    }
}
