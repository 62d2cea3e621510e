package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.runtime.tflite.FakeEngine;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class FirstChoiceTest {

    private static final int THREADS = 3;
    private static final DelegationChoice ALL = FakeEngine.delegated(ImmutableSortedSet.of(0, 1));

    private final FakeEngine engine = new FakeEngine();
    private final AtomicInteger delegates = new AtomicInteger();

    private NativeDelegate delegate() {
        return new FakeEngine.FakeDelegate(() -> {}, delegates);
    }

    /** A delegation with a given choice. */
    private record Delegation(
            Supplier<DelegationChoice> choice,
            boolean expectsOtherShapes,
            DelegateFactory delegates)
            implements ServedDelegation {

        @Override
        public String name() {
            return "fake";
        }

        @Override
        public String engine() {
            return "fake";
        }

        @Override
        public DelegationChoice first(Graph graph, String identity) {
            return choice.get();
        }
    }

    private Optional<ServedDelegation> choosing(
            DelegationChoice choice, boolean expectsOtherShapes) {
        return Optional.of(new Delegation(() -> choice, expectsOtherShapes, threads -> delegate()));
    }

    private FirstChoice first(boolean leavesDimensions, Optional<ServedDelegation> delegation)
            throws Exception {
        return first(leavesDimensions, false, delegation);
    }

    private FirstChoice first(
            boolean leavesDimensions, boolean keepsState, Optional<ServedDelegation> delegation)
            throws Exception {
        InterpreterFactory factory = engine.factory(threads -> delegate());
        return FirstChoice.of(
                FakeEngine.graph(),
                "a file",
                leavesDimensions,
                keepsState,
                factory,
                delegation,
                THREADS);
    }

    /** Makes every allocation of an interpreter fail. */
    private void failToAllocate() {
        engine.beforeTensors =
                () -> {
                    throw new IllegalStateException("placeholders");
                };
    }

    @Test
    void of_noDelegation_isTheCpuKernelsWithoutAProbe() throws Exception {
        FirstChoice first = first(false, Optional.empty());
        assertEquals(Candidate.cpu(THREADS), first.choice().candidate());
        assertEquals(Origin.UNVERIFIED, first.choice().origin());
        assertFalse(first.waits() || first.defers());
        assertTrue(first.described().isEmpty());
        assertEquals(0, engine.mostOpen.get());
    }

    @Test
    void of_dimensionsAreLeftOpenAndCannotBeAllocated_waits() throws Exception {
        failToAllocate();
        FirstChoice first = first(true, choosing(ALL, false));
        assertTrue(first.waits());
        assertEquals(Candidate.cpu(THREADS), first.choice().candidate());
        assertTrue(first.takeProbe().isEmpty());
        assertEquals(0, engine.open.get());
    }

    @Test
    void takeProbe_ofTheCandidateThatServes_isTheProbe() throws Exception {
        FirstChoice first = first(true, Optional.empty());
        assertFalse(first.waits());
        try (ModelInterpreter probe = first.takeProbe().orElseThrow()) {
            assertTrue(probe.hasShapes(FakeEngine.IN_FILE));
            assertTrue(first.described().isEmpty());
        }
        assertEquals(0, engine.open.get());
    }

    @Test
    void takeProbe_anotherCandidateServes_isClosed() throws Exception {
        FirstChoice first = first(true, choosing(ALL, false));
        assertEquals(ALL, first.choice());
        assertEquals(1, engine.open.get());
        assertTrue(first.takeProbe().isEmpty());
        assertEquals(0, engine.open.get());
    }

    @Test
    void of_otherShapesAreExpected_probeDescribesTheModelAndNoDelegateIsAsked() throws Exception {
        FirstChoice first = first(false, choosing(ALL, true));
        assertTrue(first.defers());
        assertTrue(first.described().isPresent());
        assertEquals(0, delegates.get());
        assertTrue(first.takeProbe().isEmpty());
        assertEquals(0, engine.open.get());
    }

    @Test
    void of_otherShapesAreExpectedAndNothingIsDelegated_buildsNoProbe() throws Exception {
        FirstChoice first = first(false, choosing(FakeEngine.cpu(1), true));
        assertTrue(first.defers());
        assertTrue(first.described().isEmpty());
        assertTrue(first.probe().isEmpty());
    }

    /** Such a model's delegation cannot change when a prediction has other shapes. */
    @Test
    void of_modelThatKeepsState_doesNotDefer() throws Exception {
        FirstChoice first = first(false, true, choosing(ALL, true));
        assertFalse(first.defers());
        assertTrue(first.probe().isEmpty());
    }

    @Test
    void of_delegationThrows_closesTheProbe() {
        Delegation failing =
                new Delegation(
                        () -> {
                            throw new IllegalArgumentException("no choice");
                        },
                        false,
                        threads -> delegate());
        assertThrows(IllegalArgumentException.class, () -> first(true, Optional.of(failing)));
        assertEquals(1, engine.mostOpen.get());
        assertEquals(0, engine.open.get());
    }
}
