package org.djlplan.memplan.internal.planning.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
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
    private static final Trial TRIAL =
            new Trial(DELEGATED, 60_000, 9000, 31_000, 53_000, List.of(ERROR));

    @TempDir private Path folder;

    /** Three fully connected layers, of which a delegate may run the first two. */
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

    private FolderStore<KernelTrials> store(Set<Integer> delegable) {
        return KeptKernels.store(graph(), delegable, folder, folder.resolve("cache"));
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
        KernelTrials value = new KernelTrials(COSTS, List.of(TRIAL, TRIAL.selectedFor(70_000)));
        store(DELEGATED).save(KEY, value);
        assertEquals(Optional.of(value), store(DELEGATED).load(KEY));
    }

    @ParameterizedTest
    @CsvSource({"9000,9001", "'[0,1]','[0]'", "31000,30000", "sha256,sha257", "FLOAT32,INT8"})
    void load_damaged_isRefusedWithOneWarning(String from, String to) throws IOException {
        store(DELEGATED).save(KEY, new KernelTrials(COSTS, List.of(TRIAL)));
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
        assertRefused(new KernelTrials(COSTS, List.of(TRIAL)), Set.of(0));
    }

    @Test
    void load_fewerBytesThanTheWeights_isRefused() {
        Trial light =
                new Trial(DELEGATED, 60_000, 2 * WEIGHT_BYTES - 1, 1000, 2000, List.of(ERROR));
        assertRefused(new KernelTrials(COSTS, List.of(light)), DELEGATED);
    }

    @Test
    void load_errorsOfOtherOutputs_isRefused() {
        Trial none = new Trial(DELEGATED, 60_000, 9000, 1000, 2000, List.of());
        assertRefused(new KernelTrials(COSTS, List.of(none)), DELEGATED);
    }

    @Test
    void load_costsOfOtherSteps_isRefused() {
        StepCosts two = new StepCosts(new long[] {1, 2}, 1, 0);
        assertRefused(new KernelTrials(two, List.of(TRIAL)), DELEGATED);
        StepCosts negative = new StepCosts(new long[] {1, 2, -3}, 1, 0);
        assertRefused(new KernelTrials(negative, List.of(TRIAL)), DELEGATED);
        StepCosts endless = new StepCosts(new long[] {1, 2, 3}, Double.MIN_VALUE, 0);
        assertRefused(new KernelTrials(endless, List.of(TRIAL)), DELEGATED);
    }
}
