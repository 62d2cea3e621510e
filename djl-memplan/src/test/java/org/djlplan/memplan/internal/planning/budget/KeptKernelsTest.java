package org.djlplan.memplan.internal.planning.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Faster;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeptKernelsTest {

    private static final int STEPS = 3;
    private static final int WEIGHT_BYTES = 4096;
    private static final StoreKey KEY = new StoreKey("model.tflite", Map.of("threads", "1"));
    private static final OutputError ERROR = new OutputError(ElementType.FLOAT32, 1e-6);
    private static final StepCosts COSTS = new StepCosts(new long[] {1000, 52_000, 7}, 2.5, 20_000);
    private static final SortedSet<Integer> DELEGATED = ImmutableSortedSet.of(0, 1);
    private static final Candidate CANDIDATE = new Candidate(DELEGATED, 1);
    private static final Faster FASTER = faster(CANDIDATE, 9000, ERROR);
    private static final Entry.Wrong WRONG =
            new Entry.Wrong(CANDIDATE, List.of(new OutputError(ElementType.FLOAT32, 1)));

    @TempDir private Path folder;

    /** Returns three fully connected layers; a delegate may run the first two. */
    private static Graph graph() {
        List<Tensor> tensors = new ArrayList<>();
        List<Operator> operators = new ArrayList<>();
        tensors.add(tensor(0, Storage.INTERMEDIATE));
        for (int step = 0; step < STEPS; step++) {
            tensors.add(tensor(2 * step + 1, Storage.CONSTANT));
            tensors.add(tensor(2 * step + 2, Storage.INTERMEDIATE));
            operators.add(
                    new Operator(
                            step,
                            "FULLY_CONNECTED",
                            List.of(2 * step, 2 * step + 1),
                            List.of(2 * step + 2),
                            List.of()));
        }
        return new Graph("chain", operators, tensors, List.of(0), List.of(2 * STEPS));
    }

    private static Tensor tensor(int id, Storage storage) {
        Optional<FileRegion> region =
                storage == Storage.CONSTANT
                        ? Optional.of(new FileRegion((long) id * WEIGHT_BYTES, WEIGHT_BYTES))
                        : Optional.empty();
        return new Tensor(
                id,
                "t" + id,
                ElementType.FLOAT32,
                List.of(WEIGHT_BYTES / 4),
                WEIGHT_BYTES,
                storage,
                region);
    }

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
                KeptKernels.format(new KeptKernels.KernelCheck(graph(), delegable, 1)),
                folder,
                folder.resolve("cache"));
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

    @ParameterizedTest
    @CsvSource({"9000,9001", "'[0,1]','[0]'", "sha256,sha257"})
    void load_damaged_isRefusedWithOneWarning(String from, String to) throws IOException {
        store(DELEGATED).save(KEY, trials(FASTER));
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            Path file = files.findFirst().orElseThrow();
            String text = Files.readString(file);
            assertTrue(text.contains(from), text);
            Files.writeString(file, text.replace(from, to));
        }
        try (LogCapture log = new LogCapture()) {
            FolderStore<KernelTrials> store = store(DELEGATED);
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(1, log.lines("WARN").size());
        }
    }

    @Test
    void load_stepsThatTheDelegateDoesNotRun_isRefused() {
        assertRefused(trials(FASTER), Set.of(0));
        assertRefused(new KernelTrials(COSTS, List.of(), List.of(WRONG)), Set.of(0));
    }

    @Test
    void load_otherThreadsOrBuffers_isRefused() {
        assertRefused(trials(faster(CANDIDATE.withThreads(2), 9000, ERROR)), DELEGATED);
        assertRefused(trials(faster(CANDIDATE.withTransientBuffers(), 9000, ERROR)), DELEGATED);
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
    void load_costsOfOtherSteps_isRefused() {
        StepCosts two = new StepCosts(new long[] {1, 2}, 1, 0);
        assertRefused(new KernelTrials(two, List.of(FASTER), List.of()), DELEGATED);
        StepCosts negative = new StepCosts(new long[] {1, 2, -3}, 1, 0);
        assertRefused(new KernelTrials(negative, List.of(FASTER), List.of()), DELEGATED);
        StepCosts endless = new StepCosts(new long[] {1, 2, 3}, Double.MIN_VALUE, 0);
        assertRefused(new KernelTrials(endless, List.of(FASTER), List.of()), DELEGATED);
    }
}
