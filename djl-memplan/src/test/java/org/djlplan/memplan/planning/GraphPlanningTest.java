package org.djlplan.memplan.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.config.PlanningOptions;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.tflite.PlanFinder;
import org.djlplan.memplan.runtime.tflite.PlanFinder.Request;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.memplan.testing.TightGraph;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GraphPlanningTest {

    private static final Graph GRAPH = TightGraph.of(false);
    private static final SearchMode AT_LOAD = new SearchMode.AtLoad(Duration.ofSeconds(30));
    private static final SearchMode BACKGROUND = new SearchMode.Background();

    @TempDir Path folder;
    private final List<Duration> limits = new ArrayList<>();
    private final Semaphore searched = new Semaphore(0);

    /** Searches as an application does, and notes it. */
    private PlanImprover noted(Duration limit) {
        limits.add(limit);
        PlanImprover search = PlanImprover.within(limit);
        return (incumbent, enough) -> {
            PlanImprover.Improvement found = search.improve(incumbent, enough);
            searched.release();
            return found;
        };
    }

    private GraphPlanning finder(SearchMode mode, Function<Duration, PlanImprover> improvers) {
        return finder(mode, improvers, Optional.of("TFLite 2.6.2"));
    }

    private GraphPlanning finder(
            SearchMode mode, Function<Duration, PlanImprover> improvers, Optional<String> engine) {
        return new GraphPlanning(
                folder.resolve("model.tflite"),
                new PlanningOptions("best", InPlace.AUTO, mode),
                folder.resolve("cache"),
                improvers,
                () -> engine);
    }

    private static EvaluatedPlan find(PlanFinder finder, boolean whileLoading) {
        return finder.find(new Request(GRAPH, 1, whileLoading));
    }

    private static void assertMinimal(EvaluatedPlan planned) {
        assertEquals(TightGraph.MINIMAL_BYTES, planned.plan().totalBytes());
        assertTrue(planned.provedMinimal());
    }

    private static void assertGreedy(EvaluatedPlan planned) {
        assertTrue(planned.plan().totalBytes() > TightGraph.MINIMAL_BYTES);
        assertFalse(planned.provedMinimal());
    }

    private static List<Path> kept(Path in) throws IOException {
        if (!Files.isDirectory(in)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(in)) {
            return files.filter(file -> file.toString().endsWith(".searched.json")).toList();
        }
    }

    private Path besideModel() {
        return folder.resolve(".djlplan");
    }

    private void awaitKept() throws Exception {
        assertTrue(searched.tryAcquire(30, TimeUnit.SECONDS));
        // It is kept right after that.
        Await.until(() -> !kept(besideModel()).isEmpty());
    }

    @Test
    void find_atLoad_isUsedAtOnceAndSearchedOnce() throws IOException {
        try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
            assertMinimal(find(finder, true));
            assertMinimal(find(finder, true));
        }
        try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
            assertMinimal(find(finder, true));
        }
        assertEquals(List.of(Duration.ofSeconds(30)), limits);
        assertEquals(1, kept(besideModel()).size());
    }

    @Test
    void find_inBackground_isUsedFromTheNextLoadOn() throws Exception {
        try (PlanFinder finder = finder(BACKGROUND, this::noted)) {
            assertGreedy(find(finder, true));
            awaitKept();
        }
        try (PlanFinder finder = finder(BACKGROUND, this::noted)) {
            assertMinimal(find(finder, true));
        }
        assertEquals(List.of(SearchMode.BACKGROUND_LIMIT), limits);
    }

    /** A prediction with inputs of new shapes does not wait. */
    @Test
    void find_atLoadButNotWhileLoading_searchesInTheBackground() throws Exception {
        try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
            assertGreedy(find(finder, false));
            awaitKept();
            assertMinimal(find(finder, false));
        }
        assertEquals(List.of(Duration.ofSeconds(30)), limits);
    }

    @Test
    void find_searchedInVain_isNotSearchedAgainUnlessForLonger() throws IOException {
        Function<Duration, PlanImprover> inVain =
                limit -> {
                    limits.add(limit);
                    return GraphPlanningTest::nothing;
                };
        for (int millis : List.of(100, 100, 50, 200)) {
            SearchMode mode = new SearchMode.AtLoad(Duration.ofMillis(millis));
            try (PlanFinder finder = finder(mode, inVain)) {
                assertGreedy(find(finder, true));
            }
        }
        assertEquals(List.of(Duration.ofMillis(100), Duration.ofMillis(200)), limits);
    }

    private static PlanImprover.Improvement nothing(OffsetPlan incumbent, OptionalLong enough) {
        return new PlanImprover.Improvement(incumbent, false);
    }

    @Test
    void close_whileSearching_cancelsAndKeepsNothing() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        PlanFinder finder =
                finder(
                        BACKGROUND,
                        limit ->
                                (incumbent, enough) -> {
                                    begun.countDown();
                                    try {
                                        new CountDownLatch(1).await();
                                    } catch (InterruptedException e) {
                                        Thread.currentThread().interrupt();
                                        interrupted.countDown();
                                    }
                                    return new PlanImprover.Improvement(incumbent, true);
                                });
        assertGreedy(find(finder, true));
        assertTrue(begun.await(30, TimeUnit.SECONDS));
        finder.close();
        finder.close();
        assertTrue(interrupted.await(30, TimeUnit.SECONDS));
        try (PlanFinder next = finder(BACKGROUND, this::noted)) {
            assertGreedy(find(next, true));
            awaitKept();
            assertMinimal(find(next, true));
        }
    }

    /** As one that is writing to a server of files that does not answer. */
    @Test
    void findAndClose_whileASearchCannotBeInterrupted_doNotWait() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        PlanFinder finder =
                finder(
                        BACKGROUND,
                        limit ->
                                (incumbent, enough) -> {
                                    begun.countDown();
                                    Uninterruptibles.awaitUninterruptibly(end);
                                    return new PlanImprover.Improvement(incumbent, true);
                                });
        try {
            assertGreedy(find(finder, true));
            assertTrue(begun.await(30, TimeUnit.SECONDS));
            // Guards from hanging: neither waits for the search.
            assertTimeoutPreemptively(
                    Duration.ofMinutes(2),
                    () -> {
                        assertGreedy(find(finder, true));
                        finder.close();
                        finder.close();
                    });
        } finally {
            end.countDown();
        }
        SearchThread.awaitEnd();
        assertEquals(List.of(), kept(besideModel()), "cancelled before it ended");
    }

    @Test
    void find_improverThatFails_usesThePlanOfTheStrategies() throws IOException {
        try (PlanFinder finder =
                finder(
                        AT_LOAD,
                        limit ->
                                (incumbent, enough) -> {
                                    throw new IllegalStateException("out of luck");
                                })) {
            assertGreedy(find(finder, true));
        }
        assertEquals(List.of(), kept(besideModel()));
    }

    @Test
    void find_interruptedWhileLoading_keepsNothing() throws IOException {
        try (PlanFinder finder =
                finder(
                        AT_LOAD,
                        limit ->
                                (incumbent, enough) -> {
                                    Thread.currentThread().interrupt();
                                    return nothing(incumbent, enough);
                                })) {
            assertGreedy(find(finder, true));
            assertTrue(Thread.interrupted());
        }
        assertEquals(List.of(), kept(besideModel()));
    }

    @Test
    void find_folderThatCannotBeWritten_keepsInTheCache() throws IOException {
        Files.createFile(besideModel());
        try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
            assertMinimal(find(finder, true));
        }
        try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
            assertMinimal(find(finder, true));
        }
        assertEquals(1, limits.size());
        try (Stream<Path> files = Files.walk(folder.resolve("cache"))) {
            assertEquals(1, files.filter(Files::isRegularFile).count());
        }
    }

    @Test
    void find_nowhereToKeep_searchesEachTime() throws IOException {
        Files.createFile(besideModel());
        Files.createFile(folder.resolve("cache"));
        for (int i = 0; i < 2; i++) {
            try (PlanFinder finder = finder(AT_LOAD, this::noted)) {
                assertMinimal(find(finder, true));
            }
        }
        assertEquals(2, limits.size());
    }

    @Test
    void find_engineThatTellsNoVersion_neitherSearchesNorKeeps() throws IOException {
        try (PlanFinder finder = finder(AT_LOAD, this::noted, Optional.empty())) {
            assertGreedy(find(finder, true));
        }
        assertEquals(List.of(), limits);
        assertEquals(List.of(), kept(besideModel()));
    }

    private static Graph graph(String type, ElementType element, int size, boolean temporary) {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(4);
        int x = sketch.tensor(element, Storage.INTERMEDIATE, size);
        int scratch = sketch.tensor(4);
        int output = sketch.tensor(4);
        return sketch.operator(
                        type, List.of(input), List.of(x), temporary ? List.of(scratch) : List.of())
                .operator("TANH", output, x)
                .output(output)
                .build();
    }

    @Test
    void structure_anyDifferenceThatMatters_isAnotherHash() {
        Set<String> hashes = new HashSet<>();
        for (Graph graph :
                List.of(
                        graph("RELU", ElementType.FLOAT32, 4, false),
                        graph("ABS", ElementType.FLOAT32, 4, false),
                        graph("RELU", ElementType.INT32, 4, false),
                        graph("RELU", ElementType.FLOAT32, 5, false),
                        graph("RELU", ElementType.FLOAT32, 4, true))) {
            assertTrue(hashes.add(GraphPlanning.structure(graph)));
        }
    }

    @Test
    void structure_otherNames_isTheSame() {
        Graph graph = graph("RELU", ElementType.FLOAT32, 4, false);
        Graph renamed =
                new Graph(
                        "other",
                        graph.operators(),
                        graph.tensors(),
                        graph.inputs(),
                        graph.outputs());
        assertEquals(GraphPlanning.structure(graph), GraphPlanning.structure(renamed));
        assertTrue(GraphPlanning.structure(graph).matches("[0-9a-f]{64}"));
    }
}
