package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests candidates of a real engine in the measuring process. */
class MeasuringProcessTest {

    private static final double TOLERANCE = 1e-4;

    @TempDir private Path folder;

    private TfLiteDelegableModel model(Path file, String delegate) throws Exception {
        StockInterpreter.loadEngine();
        Graph graph =
                TfLiteGraphs.toGraph(
                        TfLiteReader.read(TestModels.built("mobilenet_v2")), "mobilenet_v2");
        return new TfLiteDelegableModel(
                file,
                FileIdentity.text(file),
                graph,
                folder,
                Served.options(Map.of("delegation.delegate", delegate)),
                EngineLibrary.loaded());
    }

    private TfLiteDelegableModel model(String delegate) throws Exception {
        return model(TestModels.built("mobilenet_v2"), delegate);
    }

    @Test
    void newProcess_xnnpack_measures() throws Exception {
        TfLiteDelegableModel model = model("xnnpack");
        try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            List<Set<Integer>> partitions = runner.partitions();
            Candidate all = new Candidate(new TreeSet<>(partitions.get(0)), 1);
            for (Candidate candidate : List.of(Candidate.cpu(1), all)) {
                Trial trial = runner.prepare(candidate);
                assertTrue(trial.memoryBytes() > 0, trial.toString());
                assertTrue(
                        trial.errors().stream().allMatch(e -> e.difference() <= TOLERANCE),
                        trial.toString());
                assertTrue(LongStream.of(runner.time(candidate, 3)).allMatch(nanos -> nanos > 0));
            }
            assertEquals(1, runner.prepare(all).kernels());
            assertEquals(all.operators(), delegated(runner.profile(all, 2)));
            runner.release(all);
        }
    }

    private static SortedSet<Integer> delegated(List<NodeTime> nodes) {
        return nodes.stream()
                .filter(NodeTime::delegated)
                .flatMap(node -> node.operators().stream())
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    @Test
    void newProcess_delegateCrashes_candidatesWithoutItContinue() throws Exception {
        TfLiteDelegableModel model = model("class:" + CrashingDelegates.class.getName());
        try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            CandidateException e =
                    assertThrows(CandidateException.class, () -> runner.partitions());
            assertEquals(CandidateException.Kind.CRASHED, e.kind());
            assertTrue(e.getMessage().contains("SIGSEGV"), e.getMessage());
            assertEquals(0, runner.prepare(Candidate.cpu(1)).kernels());
        }
    }

    @Test
    void newProcess_damagedModel_throws() throws Exception {
        Path damaged = Files.writeString(folder.resolve("damaged.tflite"), "no model");
        TfLiteDelegableModel model = model(damaged, "xnnpack");
        assertThrows(IOException.class, () -> model.newProcess(Urgency.AWAITED, Tolerance.AUTO));
    }

    @Test
    void facts_ofEngine_nameItsVersion() throws Exception {
        assertEquals("2.6.2", model("xnnpack").facts().get("native"));
    }
}
