package org.djlplan.memplan.internal.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.KernelTrials.Faster;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptKernelsTest {

    private static final int STEPS = 3;
    private static final StoreKey KEY = new StoreKey("model.tflite", Map.of("threads", "1"));
    private static final OutputError ERROR = new OutputError(ElementType.FLOAT32, 1e-6);
    private static final StepCosts COSTS = new StepCosts(new long[] {1000, 52_000, 7}, 2.5, 20_000);
    private static final SortedSet<Integer> DELEGATED = ImmutableSortedSet.of(0, 1);
    private static final Candidate CANDIDATE = new Candidate(DELEGATED, 1);
    private static final Faster FASTER = faster(CANDIDATE, 9000, ERROR);
    private static final Entry.Wrong WRONG =
            new Entry.Wrong(CANDIDATE, List.of(new OutputError(ElementType.FLOAT32, 1)));

    @TempDir private Path folder;

    private static Faster faster(Candidate candidate, long bytes, OutputError... errors) {
        Entry.Latency latency = new Entry.Latency(31_000, 30_500, 32_000, 7);
        return new Faster(
                new Entry.Measured(candidate, 1, latency, bytes, List.of(errors)), 60_000, 53_000);
    }

    private static KernelTrials trials(Faster faster) {
        return new KernelTrials(COSTS, List.of(faster), List.of());
    }

    private FolderStore<KernelTrials> store(Set<Integer> delegable) {
        return FolderStore.at(
                KeptKernels.format(STEPS, delegable), folder, folder.resolve("cache"));
    }

    private void assertRefused(KernelTrials value, Set<Integer> delegable) {
        store(delegable).save(KEY, value);
        try (LogCapture log = new LogCapture()) {
            FolderStore<KernelTrials> store = store(delegable);
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(1, log.lines("WARN").size());
        }
    }

    @Test
    void load_saved_isEqual() {
        KernelTrials value =
                new KernelTrials(
                        COSTS, List.of(FASTER, FASTER.selectedFor(70_000)), List.of(WRONG));
        store(DELEGATED).save(KEY, value);
        assertEquals(Optional.of(value), store(DELEGATED).load(KEY));
    }

    @Test
    void load_stepsThatTheDelegateDoesNotRun_isRefused() {
        assertRefused(trials(FASTER), Set.of(0));
        assertRefused(new KernelTrials(COSTS, List.of(), List.of(WRONG)), Set.of(0));
    }

    @Test
    void tried_rowsOfEitherKind_onlyTheirSteps() {
        KernelTrials right = trials(FASTER);
        KernelTrials wrong = new KernelTrials(COSTS, List.of(), List.of(WRONG));
        for (KernelTrials each : List.of(right, wrong)) {
            assertTrue(each.tried(DELEGATED));
            assertFalse(each.tried(ImmutableSortedSet.of(0)));
        }
    }

    @Test
    void with_sameStepsAgain_replacesTheirRow() {
        Faster again = FASTER.selectedFor(70_000);
        assertEquals(List.of(again), trials(FASTER).with(again).faster());
        assertEquals(List.of(WRONG), trials(FASTER).with(WRONG).wrong());
    }

    @Test
    void load_costsOfOtherSteps_isRefused() {
        StepCosts two = new StepCosts(new long[] {1, 2}, 1, 0);
        assertRefused(new KernelTrials(two, List.of(FASTER), List.of()), DELEGATED);
    }
}
